import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { AuditEvent } from "../audit/audit-event.ts";
import { demandAuthority, hasAuthority } from "../authority/authority.ts";
import type { Team, TeamStore } from "./team-store.ts";

const MOST_TEAMS = 1_000;
/** They travel with every run that the person begins. */
const MOST_TEAMS_OF_A_PERSON = 50;

/** Who changes a team, and how that is found again. */
export interface TeamChanger {
  readonly principal: Principal;
  readonly traceId: string;
}

/** Those of the organization for who may see them all, else one's own. */
export function listTeams(store: TeamStore, principal: Principal): Promise<Team[]> {
  const seesAll = hasAuthority(principal, "manage_teams") || hasAuthority(principal, "read_audit");
  return store.list(principal.organization, seesAll ? undefined : principal.id);
}

/** @throws HlvmError `role_missing`, `team_exists`, `too_many_teams` */
export async function createTeam(store: TeamStore, by: TeamChanger, name: string): Promise<Team> {
  demandAuthority(by.principal, "manage_teams");
  const { organization } = by.principal;
  const change = await store.create(organization, name, MOST_TEAMS, eventOf("team_created", by, { team: name }));
  if (change === "too_many") throw tooMany(`${organization} has ${MOST_TEAMS} teams, which is as many as it may have.`);
  if (change === "unchanged")
    throw new HlvmError({
      code: "already_exists",
      reason: "team_exists",
      message: `There is a team ${name} already.`,
      advice: "`hlvm team list` shows who is in it.",
    });
  return teamNamed(store, organization, name);
}

/** @throws HlvmError `role_missing`, `team_not_found` */
export async function deleteTeam(store: TeamStore, by: TeamChanger, name: string): Promise<void> {
  demandAuthority(by.principal, "manage_teams");
  const change = await store.delete(by.principal.organization, name, eventOf("team_deleted", by, { team: name }));
  if (change === "no_team") throw notFound(name);
}

/** @throws HlvmError `role_missing`, `team_not_found`, `too_many_teams` */
export async function addTeamMember(store: TeamStore, by: TeamChanger, team: string, member: string): Promise<Team> {
  demandAuthority(by.principal, "manage_teams");
  const { organization } = by.principal;
  const event = eventOf("team_member_added", by, { team, member });
  const change = await store.add(organization, team, member, MOST_TEAMS_OF_A_PERSON, event);
  if (change === "no_team") throw notFound(team);
  if (change === "too_many") throw tooMany(`${member} is in ${MOST_TEAMS_OF_A_PERSON} teams, which is as many as a person may be in.`);
  return teamNamed(store, organization, team);
}

/** @throws HlvmError `role_missing`, `team_not_found` */
export async function removeTeamMember(store: TeamStore, by: TeamChanger, team: string, member: string): Promise<Team> {
  demandAuthority(by.principal, "manage_teams");
  const { organization } = by.principal;
  const change = await store.remove(organization, team, member, eventOf("team_member_removed", by, { team, member }));
  if (change === "no_team") throw notFound(team);
  return teamNamed(store, organization, team);
}

async function teamNamed(store: TeamStore, organization: string, name: string): Promise<Team> {
  const team = (await store.list(organization)).find((one) => one.name === name);
  if (team === undefined) throw notFound(name);
  return team;
}

type TeamKind = "team_created" | "team_deleted" | "team_member_added" | "team_member_removed";

function eventOf(kind: TeamKind, { principal, traceId }: TeamChanger, about: Parameters<typeof canonicalJson>[0]): AuditEvent {
  const { organization, id } = principal;
  return { kind, at: new Date().toISOString(), organization, principal: id, arguments: canonicalJson(about), traceId };
}

function notFound(name: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "team_not_found",
    message: `There is no team ${name}.`,
    advice: "`hlvm team list` shows the teams; `hlvm team create NAME` makes one.",
  });
}

function tooMany(message: string): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "too_many_teams",
    message,
    advice: "Delete teams that are not used, or take people out of them: `hlvm team list`.",
  });
}

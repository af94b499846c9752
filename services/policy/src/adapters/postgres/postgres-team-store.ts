import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type { Team, TeamChange, TeamStore } from "../../domain/identity/team-store.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const FOREIGN_KEY_VIOLATION = "23503";

/** Who is in a team by hand, or by a group of the identity provider. */
const LIST = `
  SELECT team.name, team.created_at, coalesce(array_agg(member.principal ORDER BY member.principal) FILTER (WHERE member.principal IS NOT NULL), '{}') AS members
  FROM identity.team LEFT JOIN identity.team_membership member ON member.organization = team.organization AND member.team = team.name
  WHERE team.organization = $1
    AND ($2::text IS NULL OR EXISTS (
      SELECT FROM identity.team_membership own WHERE own.organization = $1 AND own.team = team.name AND own.principal = $2
    ))
  GROUP BY team.organization, team.name ORDER BY team.name`;

const OF = "SELECT team FROM identity.team_membership WHERE organization = $1 AND principal = $2 ORDER BY team";

const CREATE = `
  WITH many AS (SELECT count(*) >= $3 AS is_full FROM identity.team WHERE organization = $1),
  made AS (
    INSERT INTO identity.team (organization, name) SELECT $1, $2 FROM many WHERE NOT is_full ON CONFLICT DO NOTHING RETURNING name
  ), recorded AS (SELECT ${appendEvent(4)} FROM made)
  SELECT CASE WHEN EXISTS (SELECT FROM recorded) THEN 'done'
    WHEN EXISTS (SELECT FROM identity.team WHERE organization = $1 AND name = $2) THEN 'unchanged' ELSE 'too_many' END AS change`;

const DELETE = `
  WITH gone AS (DELETE FROM identity.team WHERE organization = $1 AND name = $2 RETURNING name),
  recorded AS (SELECT ${appendEvent(3)} FROM gone)
  SELECT CASE WHEN EXISTS (SELECT FROM recorded) THEN 'done' ELSE 'no_team' END AS change`;

const ADD = `
  WITH held AS (SELECT name FROM identity.team WHERE organization = $1 AND name = $2),
  many AS (SELECT count(*) >= $4 AS is_full FROM identity.team_member WHERE organization = $1 AND principal = $3),
  made AS (
    INSERT INTO identity.team_member (organization, team, principal)
    SELECT $1, name, $3 FROM held, many WHERE NOT is_full ON CONFLICT DO NOTHING RETURNING team
  ), recorded AS (SELECT ${appendEvent(5)} FROM made)
  SELECT CASE WHEN EXISTS (SELECT FROM recorded) THEN 'done' WHEN NOT EXISTS (SELECT FROM held) THEN 'no_team'
    WHEN EXISTS (SELECT FROM identity.team_member WHERE organization = $1 AND team = $2 AND principal = $3) THEN 'unchanged'
    ELSE 'too_many' END AS change`;

const REMOVE = `
  WITH gone AS (DELETE FROM identity.team_member WHERE organization = $1 AND team = $2 AND principal = $3 RETURNING team),
  recorded AS (SELECT ${appendEvent(4)} FROM gone)
  SELECT CASE WHEN EXISTS (SELECT FROM recorded) THEN 'done'
    WHEN EXISTS (SELECT FROM identity.team WHERE organization = $1 AND name = $2) THEN 'unchanged' ELSE 'no_team' END AS change`;

type TeamRow = { readonly name: string; readonly members: string[]; readonly created_at: Date };

/** Teams in PostgreSQL. */
export class PostgresTeamStore implements TeamStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(organization: string, member?: string): Promise<Team[]> {
    const rows = await this.#database.query<TeamRow>(LIST, [organization, member ?? null], "list_teams");
    return rows.map(({ name, members, created_at: createdAt }) => ({ name, members, createdAt }));
  }

  async of(organization: string, principal: string): Promise<string[]> {
    return (await this.#database.query<{ team: string }>(OF, [organization, principal], "teams_of")).map(({ team }) => team);
  }

  create(organization: string, name: string, most: number, event: AuditEvent): Promise<TeamChange> {
    return this.#change(CREATE, [organization, name, most, recordOf(event)], "create_team");
  }

  delete(organization: string, name: string, event: AuditEvent): Promise<TeamChange> {
    return this.#change(DELETE, [organization, name, recordOf(event)], "delete_team");
  }

  add(organization: string, team: string, principal: string, most: number, event: AuditEvent): Promise<TeamChange> {
    return this.#change(ADD, [organization, team, principal, most, recordOf(event)], "add_team_member").catch((thrown: unknown) => {
      if (isForeignKeyViolation(thrown)) return "no_team";
      throw thrown;
    });
  }

  remove(organization: string, team: string, principal: string, event: AuditEvent): Promise<TeamChange> {
    return this.#change(REMOVE, [organization, team, principal, recordOf(event)], "remove_team_member");
  }

  async #change(sql: string, values: readonly unknown[], name: string): Promise<TeamChange> {
    const [row] = await this.#database.query<{ change: TeamChange }>(sql, values, name);
    return row!.change;
  }
}

/** The team was deleted meanwhile. */
function isForeignKeyViolation(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === FOREIGN_KEY_VIOLATION;
}

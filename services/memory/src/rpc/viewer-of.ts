import type { Principal, Role } from "@hlvm/identity/principal";
import type { Viewer } from "../domain/viewer.ts";

const TEAM_FACT_WRITERS: ReadonlySet<Role> = new Set(["approver", "admin"]);

/** The scope of a call: who is calling comes from the token, in which project from the request. */
export function viewerOf(principal: Principal, project: string): Viewer {
  return {
    organization: principal.organization,
    principal: principal.id,
    project,
    mayWriteTeamFacts: principal.roles.some((role) => TEAM_FACT_WRITERS.has(role)),
  };
}

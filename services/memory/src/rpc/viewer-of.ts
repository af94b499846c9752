import type { HandlerContext } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal, Role } from "@hlvm/identity/principal";
import { callContext } from "@hlvm/rpc/call-context";
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

/**
 * The scope of a call by which a person says something themselves: what a run says is never theirs.
 * @throws HlvmError `person_needed`
 */
export function personsViewer(context: HandlerContext, project: string): Viewer {
  const { principal, delegation } = callContext(context);
  if (delegation === undefined) return viewerOf(principal, project);
  throw new HlvmError({
    code: "permission_denied",
    reason: "person_needed",
    message: "A run cannot say this for a person.",
    advice: "Use the memory tools in a run, or do it yourself.",
  });
}

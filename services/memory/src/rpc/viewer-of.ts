import type { HandlerContext } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Role } from "@hlvm/identity/principal";
import { callContext } from "@hlvm/rpc/call-context";
import { projectNamed, type ProjectStore } from "../domain/projects.ts";
import type { Viewer } from "../domain/viewer.ts";

const TEAM_FACT_WRITERS: ReadonlySet<Role> = new Set(["approver", "admin"]);

/**
 * The scope of a call: who is calling comes from the token; which project they mean, the request says, and whether they are a member of
 * it, the database.
 * @throws HlvmError `project_not_found`
 */
export async function viewerOf(context: HandlerContext, projects: ProjectStore, project: string): Promise<Viewer> {
  const { organization, id: principal, roles } = callContext(context).principal;
  return {
    organization,
    principal,
    project: await projectNamed(projects, { organization, principal }, project),
    mayWriteTeamFacts: roles.some((role) => TEAM_FACT_WRITERS.has(role)),
  };
}

/**
 * The scope of a call by which a person says something themselves: what a run says is never theirs.
 * @throws HlvmError `person_needed`, `project_not_found`
 */
export async function personsViewer(context: HandlerContext, projects: ProjectStore, project: string): Promise<Viewer> {
  if (callContext(context).delegation === undefined) return viewerOf(context, projects, project);
  throw new HlvmError({
    code: "permission_denied",
    reason: "person_needed",
    message: "A run cannot say this for a person.",
    advice: "Use the memory tools in a run, or do it yourself.",
  });
}

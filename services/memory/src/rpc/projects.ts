import type { HandlerContext } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import {
  ProjectSchema,
  type AddProjectMemberRequest,
  type Project as EncodedProject,
  type RegisterProjectRequest,
  type RemoveProjectMemberRequest,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { projectNotFound, registerProject, type Project, type ProjectStore } from "../domain/projects.ts";

export function registerProjectHandler(projects: ProjectStore) {
  return async ({ workspace, identity }: RegisterProjectRequest, context: HandlerContext) => {
    const { principal, delegation } = callContext(context);
    // What a workspace is the sandbox knows, and a person's call does not come from there.
    if (delegation === undefined)
      throw new HlvmError({ code: "permission_denied", reason: "run_needed", message: "Only a run says what its workspace is." });
    const { organization, id } = principal;
    const projectId = await registerProject(projects, { organization, principal: id }, workspace, identity);
    const project = await projects.find(organization, projectId);
    return { project: project && encodeProject({ ...project, members: [] }) };
  };
}

export function listProjectsHandler(projects: ProjectStore) {
  return async (_: unknown, context: HandlerContext) => {
    const { organization, id, roles } = callContext(context).principal;
    const found = await projects.list({ organization, principal: id }, roles.includes("admin"));
    return { projects: found.map(encodeProject) };
  };
}

export function setProjectMemberHandler(projects: ProjectStore, isMember: boolean) {
  return async ({ projectId, principal }: AddProjectMemberRequest | RemoveProjectMemberRequest, context: HandlerContext) => {
    const { principal: caller, delegation } = callContext(context);
    if (delegation !== undefined || !caller.roles.includes("admin"))
      throw new HlvmError({
        code: "permission_denied",
        reason: "administrator_needed",
        message: "Who is a member of a project is decided by administrators, and by having a session in it.",
        advice: "Ask an administrator.",
      });
    if ((await projects.find(caller.organization, projectId)) === undefined) throw projectNotFound();
    await projects.setMember(caller.organization, projectId, principal, isMember);
    return { project: encodeProject((await projects.find(caller.organization, projectId))!) };
  };
}

function encodeProject({ id, name, members, createdAt }: Project): EncodedProject {
  return create(ProjectSchema, { projectId: id, name, members: [...members], createdAt: timestampFromDate(createdAt) });
}

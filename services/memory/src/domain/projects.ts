import { posix } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { FactStore } from "./fact-store.ts";
import { isProjectId, ownProjectId, projectIdOf, type ProjectIdentity } from "./project-identity.ts";
import type { Viewer } from "./viewer.ts";

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly members: readonly string[];
  readonly createdAt: Date;
}

/** Facts, and whose projects they may be. */
export interface FactPorts {
  readonly store: FactStore;
  readonly projects: ProjectStore;
}

/** Who asks for a project. */
export type ProjectViewer = Pick<Viewer, "organization" | "principal">;

/** Where projects and their members are kept. */
export interface ProjectStore {
  isMember(viewer: ProjectViewer, id: string): Promise<boolean>;
  /** What the path is to this person, as long as they are a member of it. */
  byPath(viewer: ProjectViewer, path: string): Promise<string | undefined>;
  /** Makes the project where there is none, and them a member, unless they were removed; with the path, it is their word for it. */
  join(viewer: ProjectViewer, id: string, name: string, path: string): Promise<"member" | "removed">;
  /** What this person wrote under other names of it becomes the project's. */
  adopt(viewer: ProjectViewer, from: readonly string[], id: string): Promise<void>;
  /** Those of the viewer, or of the whole organization. */
  list(viewer: ProjectViewer, all: boolean): Promise<Project[]>;
  find(organization: string, id: string): Promise<Project | undefined>;
  setMember(organization: string, id: string, principal: string, isMember: boolean): Promise<void>;
}

/**
 * The project that somebody means by an id or by a workspace's path. A path is this person's own word: what it is to somebody else it
 * does not tell.
 * @returns empty for no project
 * @throws HlvmError `project_not_found` for an id of which they are no member
 */
export async function projectNamed(projects: ProjectStore, viewer: ProjectViewer, named: string): Promise<string> {
  if (named === "") return "";
  if (isProjectId(named)) {
    if (await projects.isMember(viewer, named)) return named;
    throw projectNotFound();
  }
  const known = await projects.byPath(viewer, named);
  if (known !== undefined) return known;
  const own = ownProjectId(viewer.organization, viewer.principal, named);
  if (!(await projects.isMember(viewer, own))) {
    await projects.join(viewer, own, nameOf(named), "");
    await projects.adopt(viewer, [named], own);
  }
  return own;
}

/**
 * A person has a session in a workspace: they are a member of its project from now on, and what they wrote by its path is the
 * project's.
 * @throws HlvmError `project_not_found` where an administrator removed them
 */
export async function registerProject(
  projects: ProjectStore,
  viewer: ProjectViewer,
  workspace: string,
  identity: ProjectIdentity | undefined,
): Promise<string> {
  const own = ownProjectId(viewer.organization, viewer.principal, workspace);
  const id = (identity && projectIdOf(viewer.organization, identity)) ?? own;
  const before = await projects.byPath(viewer, workspace);
  if (before === id) return id;
  if ((await projects.join(viewer, id, nameOf(workspace), workspace)) === "removed") throw projectNotFound();
  await projects.adopt(viewer, id === own ? [workspace] : [workspace, own], id);
  return id;
}

function nameOf(path: string): string {
  return (
    posix
      .basename(path.replace(/[?#].*$/s, ""))
      .replace(/\.git$/, "")
      .slice(0, 128) || "project"
  );
}

export function projectNotFound(): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "project_not_found",
    message: "There is no such project that you are a member of.",
    advice: "Have a session in its workspace, or ask an administrator to add you: hlvm memory project list.",
  });
}

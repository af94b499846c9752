import { createHash } from "node:crypto";

/** What tells a workspace's project from every other, as the sandbox found it. */
export interface ProjectIdentity {
  readonly origin: string;
  readonly rootCommit: string;
  /** Of `.hlvm/project`. */
  readonly madeId: string;
}

/** A project's id, or undefined where nothing tells it from others. Nobody finds from it what it was made of. */
export function projectIdOf(organization: string, { origin, rootCommit, madeId }: ProjectIdentity): string | undefined {
  // An address alone anybody can write down; who has the first commit has the repository.
  if (rootCommit !== "") return idOf([organization, "repository", normalOrigin(origin), rootCommit]);
  return madeId === "" ? undefined : idOf([organization, "made", madeId]);
}

/** Of what a person calls a project by its path, and has had no session in: theirs alone. */
export function ownProjectId(organization: string, principal: string, path: string): string {
  return idOf([organization, "path", principal, path]);
}

/** Whether it is an id rather than a path. */
export function isProjectId(named: string): boolean {
  return /^project-[0-9a-f]{64}$/.test(named);
}

/** One name for the ways in which the same repository is reached: `host/path`, without credentials, port, query, or `.git`. */
export function normalOrigin(origin: string): string {
  const scp = /^(?:[^@/\s]{1,256}@)?([^:/\s]{1,256}):(?!\/\/)(.*)$/s.exec(origin.trim());
  const url = /^[a-z][a-z0-9+.-]{0,20}:\/\/(?:[^@/]{0,1024}@)?([^/:?#]{0,256})(?::\d{0,5})?([^?#]*)/is.exec(origin.trim());
  const [, host = "", path = origin.trim()] = url ?? scp ?? [];
  const clean = path
    .replace(/[?#].*$/s, "")
    .replace(/^\/+|\/+$/g, "")
    .replace(/\.git$/i, "");
  return `${host.toLowerCase()}/${clean}`;
}

function idOf(parts: readonly string[]): string {
  return `project-${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}

import { readWorkspace } from "./read-workspace.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** Where the files come from that a session works on. */
export type WorkspaceSource =
  /** A folder of the machine where HLVM runs; empty: the session's own. */
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "repository"; readonly url: string; readonly ref: string }
  /** A folder of this machine, of which a copy is sent. */
  | { readonly kind: "upload"; readonly path: string; readonly sendsSecrets: boolean };

export interface WorkspaceFlags {
  readonly workspace?: string;
  readonly upload?: boolean;
  readonly uploadSecrets?: boolean;
  readonly resume?: string;
}

/** A URL, or what `git clone` takes for one; a folder's name has no such beginning. */
const REPOSITORY = /^([a-z][a-z0-9+.-]*:\/\/|[a-z]+::|[\w.-]+@[\w.-]+:)/i;

/** @throws HlvmError wrong usage, and what `readWorkspace` throws */
export function workspaceSource({ workspace, upload, uploadSecrets, resume }: WorkspaceFlags): WorkspaceSource {
  const sends = upload === true || uploadSecrets === true;
  const isRepository = workspace !== undefined && REPOSITORY.test(workspace);
  if (resume !== undefined && (sends || isRepository))
    throw wrongUsage(
      "A session keeps the workspace that it was begun with.",
      "Leave out --resume for a new session, or --workspace and --upload.",
    );
  if (isRepository) {
    if (sends) throw wrongUsage("--upload sends a folder of this machine, and --workspace names a repository.", "Give one of the two.");
    const [url = "", ...ref] = workspace.split("#");
    return { kind: "repository", url, ref: ref.join("#") };
  }
  if (resume !== undefined && workspace === undefined) return { kind: "folder", path: "" };
  const path = readWorkspace(workspace ?? ".");
  return sends ? { kind: "upload", path, sendsSecrets: uploadSecrets === true } : { kind: "folder", path };
}

/** For people; without the password that a URL may hold. */
export function describeSource(source: WorkspaceSource): string {
  if (source.kind !== "repository") return source.path;
  return source.url.replace(/\/\/[^/]*@/, "//") + (source.ref === "" ? "" : `#${source.ref}`);
}

import type { ImageRoot } from "./image-root.ts";
import type { Owner } from "./receipts.ts";

/** A folder that a session works on, and facts of it for the prompt. */
export interface WorkspaceFolder {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Tells it from any other folder that the path may lead to later. */
  readonly identity: string;
  readonly isGitRepository: boolean;
  /** Empty where there is none. */
  readonly gitBranch: string;
  /** In which its commands run; undefined: with the machine's programs. */
  readonly image?: ImageRoot;
}

/** Looks at a folder of this machine before it becomes a workspace. */
export interface WorkspaceFolders {
  /** @param path empty: the one that was prepared for the session. @throws HlvmError `workspace_not_found`, `workspace_not_readable`, `workspace_not_allowed` */
  readonly inspect: (path: string, owner: Owner, sessionId: string) => Promise<WorkspaceFolder>;
}

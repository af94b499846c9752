import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Owner } from "../receipts.ts";
import type { WorkspaceFolder } from "../workspace-folder.ts";

/** What is known of a pack before it is here. */
export interface PackFacts {
  /** The commit that the workspace is on; empty where nothing is committed. */
  readonly head: string;
  /** A commit with the files that the workspace begins with. */
  readonly snapshot: string;
  /** Empty where `head` is no branch. */
  readonly branch: string;
  /** Commits whose parents are not in the pack. */
  readonly shallow: readonly string[];
}

/** A pack that its owner sends. */
export interface Upload extends PackFacts {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly sha256: string;
}

export interface PreparedRecord {
  readonly owner: Owner;
  /** The name of the folder that becomes the workspace. */
  readonly name: string;
  /** Where it was cloned from, without a name and password; empty where it was sent. */
  readonly origin: string;
  /** Of the image in which its commands run; absent: with the machine's programs. */
  readonly image?: string;
  /** Present while it is being sent. */
  readonly upload?: Upload;
  /** Present when the workspace is there. */
  readonly ready?: PackFacts;
}

/** Takes a pack as it comes, up to the limit of a workspace. @throws HlvmError `workspace_too_large` */
export type TakePack = (chunk: Uint8Array) => void;

/** The folders of prepared workspaces, one a session: `content` holds the pack, the state it began with, and the workspace. */
export interface PreparedFolders {
  /** @throws HlvmError `workspace_already_prepared`, `disk_nearly_full` */
  readonly create: (sessionId: string, record: PreparedRecord) => Promise<void>;
  readonly read: (sessionId: string) => Promise<PreparedRecord | undefined>;
  readonly write: (sessionId: string, record: PreparedRecord) => Promise<void>;
  /** The folder that is the workspace. Counts as a use of it. */
  readonly workspace: (sessionId: string, name: string) => Promise<WorkspaceFolder>;
  /** The folder around it, which no session sees. */
  readonly content: (sessionId: string) => Promise<Pick<WorkspaceFolder, "path" | "identity">>;
  readonly openPack: (sessionId: string) => Promise<{ readonly take: TakePack; readonly close: () => void }>;
  /** Bytes of the pack that are here. */
  readonly received: (sessionId: string) => number;
  /** Appends what is new of it. @returns bytes that are here now @throws HlvmError `upload_out_of_order` */
  readonly append: (sessionId: string, offset: number, data: Uint8Array) => number;
  readonly packHash: (sessionId: string) => Promise<string>;
  readonly removePack: (sessionId: string) => Promise<void>;
  readonly remove: (sessionId: string) => Promise<void>;
  /** Sessions whose workspaces nobody has used for so long. */
  readonly unused: () => Promise<readonly string[]>;
}

export function workspaceTooLarge(maximumBytes: number): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "workspace_too_large",
    message: `The workspace is larger than ${Math.floor(maximumBytes / (1024 * 1024))} MiB.`,
    advice: "Leave large files out (.gitignore), or have the operator raise HLVM_SANDBOX_WORKSPACE_MEBIBYTES.",
  });
}

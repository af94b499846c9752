import { HlvmError } from "@hlvm/errors/hlvm-error";
import { isOwner } from "../domain/prepared/prepared-workspaces.ts";
import type { Owner } from "../domain/receipts.ts";
import type { WorkspaceFolder, WorkspaceFolders } from "../domain/workspace-folder.ts";
import type { LocalFolders } from "./local-folders.ts";
import type { ImageRoots } from "../domain/image-root.ts";
import type { PreparedFoldersOnDisk } from "./prepared-folders-on-disk.ts";

/** A session's folder: the one that was prepared for it, or one of the machine's that no service keeps anything in. */
export class SessionFolders implements WorkspaceFolders {
  readonly #local: LocalFolders;
  readonly #prepared: PreparedFoldersOnDisk;
  readonly #images: ImageRoots;

  constructor(local: LocalFolders, prepared: PreparedFoldersOnDisk, images: ImageRoots) {
    this.#local = local;
    this.#prepared = prepared;
    this.#images = images;
  }

  async inspect(path: string, owner: Owner, sessionId: string): Promise<WorkspaceFolder> {
    if (path !== "" && !this.#prepared.holds(path)) return this.#local.inspect(path);
    const record = await this.#prepared.read(sessionId);
    if (record?.ready === undefined || !isOwner(record, owner)) throw notFound(sessionId);
    const workspace = await this.#prepared.workspace(sessionId, record.name);
    if (path !== "" && path !== workspace.path) throw notFound(sessionId);
    return record.image === undefined ? workspace : { ...workspace, image: await this.#images.find(record.image) };
  }
}

function notFound(sessionId: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "workspace_not_found",
    message: `There is no workspace that was prepared for the session ${sessionId}, or it was not used for long and is removed.`,
    advice: "Start a new session; what it shall work on is cloned or sent again.",
  });
}

import { stat } from "node:fs/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SandboxRequest } from "../../domain/isolation.ts";
import { folderIdentity } from "../../../runner/folder-identity.ts";

/** Whose processes those of a sandbox are to be. */
export interface WorkspaceOwner {
  readonly userId: number;
  readonly groupId: number;
}

/**
 * Whom root gives the sandbox to: the owner of the workspace, so that a tool may read and write what that person may.
 * Undefined for processes of this process's own user.
 * @throws HlvmError `workspace_replaced` where the path no longer leads to the folder that the session was opened on
 */
export async function inspectWorkspace({ path, identity }: SandboxRequest["workspace"]): Promise<WorkspaceOwner | undefined> {
  const stats = await stat(path, { bigint: true });
  if (folderIdentity(stats) !== identity)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "workspace_replaced",
      message: `${path} is not the folder any more that the session was opened on: another one has taken its place.`,
      advice: "Put the folder back, or ask again, which opens the one that is there now.",
    });
  if (process.getuid?.() !== 0 || stats.uid === 0n) return undefined;
  return { userId: Number(stats.uid), groupId: Number(stats.gid) };
}

import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HlvmError, type ErrorFields } from "@hlvm/errors/hlvm-error";
import { makeFolder } from "@hlvm/mesh/make-folder";
import type { Restored } from "./restore-backup.ts";

const MAIN = fileURLToPath(new URL("restore-main.ts", import.meta.url));
const LOCK_IS_TAKEN = 75;

export type RestoreAnswer = Restored | { readonly failed: ErrorFields };

/**
 * Restores a backup where no mesh is up, and keeps any from starting meanwhile.
 * @param folder absolute
 * @throws HlvmError `mesh_is_up`, and those of `restoreBackup`
 */
export async function restoreLocked(folder: string, directory: string, replaces: boolean): Promise<Restored> {
  makeFolder(join(directory, "run"));
  const lock = ["--nonblock", "--no-fork", "--conflict-exit-code", String(LOCK_IS_TAKEN), join(directory, "run", "supervisor.lock")];
  const child = spawn("flock", [...lock, process.execPath, MAIN, folder, directory, replaces ? "replace" : ""], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const answer = await new Promise<RestoreAnswer>((resolve, reject) => {
    child.once("error", (cause) => reject(ended(cause.message, cause)));
    child.once("message", (message) => resolve(message as RestoreAnswer));
    child.once("exit", (code, signal) => reject(code === LOCK_IS_TAKEN ? meshIsUp(directory) : ended(signal ?? `code ${code}`)));
  });
  if ("failed" in answer) throw new HlvmError(answer.failed);
  return answer;
}

function meshIsUp(directory: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "mesh_is_up",
    message: `A mesh is up in ${directory}, or is just starting or ending there.`,
    advice: "End it first: `hlvm down`.",
  });
}

function ended(why: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "internal",
    reason: "restore_failed",
    message: `The restore ended before it was done: ${why}.`,
    advice: "Nothing was changed unless names were just being changed: look at the HLVM directory.",
    cause,
  });
}

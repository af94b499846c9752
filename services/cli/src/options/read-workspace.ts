import { accessSync, constants, statSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromCurrentFolder } from "./from-current-folder.ts";

/**
 * The folder as an absolute path, which exists and can be listed and entered.
 * @throws HlvmError `workspace_not_found`, `workspace_not_readable`, `current_folder_gone`
 */
export function readWorkspace(folder: string): string {
  const path = fromCurrentFolder(folder);
  let isDirectory: boolean;
  try {
    isDirectory = statSync(path).isDirectory();
    if (isDirectory) accessSync(path, constants.R_OK | constants.X_OK);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new HlvmError({
      code: missing ? "not_found" : "permission_denied",
      reason: missing ? "workspace_not_found" : "workspace_not_readable",
      message: missing ? `The workspace ${path} does not exist.` : `The workspace ${path} cannot be read: ${(cause as Error).message}.`,
      advice: missing
        ? "Give --workspace a folder that exists."
        : "Give --workspace a folder that you may read, or change its permissions.",
      cause,
    });
  }
  if (!isDirectory)
    throw new HlvmError({
      code: "invalid_argument",
      reason: "workspace_not_found",
      message: `The workspace ${path} is not a folder.`,
      advice: "Give --workspace the folder that it lies in.",
    });
  return path;
}

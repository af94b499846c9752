import { isAbsolute, resolve } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/**
 * A path as an absolute one, a relative one from the folder that the command was called in.
 * @throws HlvmError `current_folder_gone` where that is needed and has been deleted or moved away
 */
export function fromCurrentFolder(path: string): string {
  return isAbsolute(path) ? path : resolve(currentFolder(), path);
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "current_folder_gone",
      message: "The folder that you are in does not exist any more: it was deleted, or made anew under the same name.",
      advice: 'Go to a folder that exists, or into it again (cd "$PWD"); or give --workspace the absolute path of one.',
      cause,
    });
  }
}

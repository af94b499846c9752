import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

const MAXIMUM_BYTES = 32 * 1024;

export interface PersonalInstructions {
  /** Empty where there are none. */
  readonly text: string;
  /** Why a file that is there was left out; empty where it was not. */
  readonly notice: string;
}

/**
 * What the person wants in every session: `HLVM.md` of their own folder of HLVM. It lies on their machine, and the mesh may be on
 * another one. A file that cannot be used is no reason not to ask.
 */
export function personalInstructions(directory: string): PersonalInstructions {
  const path = join(directory, "HLVM.md");
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) return leftOut(path, "it is not a regular file");
      const buffer = Buffer.alloc(MAXIMUM_BYTES + 1);
      const length = readSync(file, buffer, 0, buffer.length, 0);
      if (length > MAXIMUM_BYTES) return leftOut(path, "it is longer than 32 KB");
      const text = new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, length));
      return text.includes("\0") ? leftOut(path, "it is not text") : { text, notice: "" };
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return { text: "", notice: "" };
    return leftOut(path, thrown instanceof TypeError ? "it is not text in UTF-8" : (thrown as Error).message);
  }
}

function leftOut(path: string, why: string): PersonalInstructions {
  return { text: "", notice: `Your own instructions in ${path} are left out: ${why}.` };
}

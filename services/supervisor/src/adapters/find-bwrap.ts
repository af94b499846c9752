import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * Where bubblewrap is: where a person says, else on the search path, else where the installation has put it for HLVM
 * alone. Where there is none the sandbox says what is missing.
 */
export function findBwrap(directory: string, environment: Readonly<Record<string, string | undefined>>): { HLVM_BWRAP?: string } {
  const { HLVM_BWRAP, PATH = "" } = environment;
  if (HLVM_BWRAP) return { HLVM_BWRAP };
  const folders = [...PATH.split(delimiter).filter((folder) => folder.startsWith("/")), join(directory, "bin")];
  const found = folders.map((folder) => join(folder, "bwrap")).find(isExecutable);
  return found === undefined ? {} : { HLVM_BWRAP: found };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where HLVM keeps its data on this machine: HLVM_DIR, else `~/.hlvm`. */
export function hlvmDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return environment.HLVM_DIR ? resolve(environment.HLVM_DIR) : join(homedir(), ".hlvm");
}

import { readFileSync } from "node:fs";

/** Of what follows the program's name in /proc/self/stat. */
const PROCESS_GROUP = 2;
const FOREGROUND_GROUP = 5;

/**
 * Whether the terminal's keys come to this process. A shell that runs it in the background has them come to itself, and the
 * kernel stops who takes them then, or changes the terminal's modes.
 */
export function inForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[PROCESS_GROUP] === fields[FOREGROUND_GROUP];
  } catch {
    // Another system than Linux, which does not tell.
    return true;
  }
}

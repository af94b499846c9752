import { readFileSync } from "node:fs";

/** Of what follows the program's name in /proc/self/stat. */
const PROCESS_GROUP = 2;
const FOREGROUND_GROUP = 5;

/**
 * Whether a person may type here while something is shown: both are a terminal that understands cursor movements, and its
 * keys come to us rather than to a shell that runs us in the background, which would stop us for taking them.
 * @param terminal as TERM names it
 */
export function isInteractive(input: { isTTY?: boolean }, output: { isTTY?: boolean }, terminal: string): boolean {
  return input.isTTY === true && output.isTTY === true && terminal !== "" && terminal !== "dumb" && isInForeground();
}

function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[PROCESS_GROUP] === fields[FOREGROUND_GROUP];
  } catch {
    // Another system than Linux, which does not tell.
    return true;
  }
}

import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes of this machine whose command line matches; pgrep is not on every machine. */
export function processesMatching(pattern: RegExp): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && pattern.test(commandLineOf(name)))
    .map(Number);
}

function commandLineOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

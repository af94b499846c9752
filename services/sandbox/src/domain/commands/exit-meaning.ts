/** Programs that say something with exit code 1 that is no failure. */
const ONE: Readonly<Record<string, string>> = {
  grep: "grep found no match",
  egrep: "grep found no match",
  fgrep: "grep found no match",
  rg: "rg found no match",
  diff: "the files differ",
  cmp: "the files differ",
  test: "the condition is false",
  "[": "the condition is false",
  pgrep: "no process matches",
};

const ANY_COMMAND: Readonly<Record<number, string>> = {
  126: "the command is not executable",
  127: "the command was not found",
  130: "interrupted",
  137: "killed",
  143: "terminated",
};

/** What an exit code of a command line means, and whether it is a success. */
export function exitMeaning(commandLine: string, exitCode: number): { succeeded: boolean; words: string } {
  if (exitCode === 0) return { succeeded: true, words: "" };
  const words = exitCode === 1 ? ONE[decidingProgram(commandLine) ?? ""] : undefined;
  if (words !== undefined) return { succeeded: true, words };
  return { succeeded: false, words: ANY_COMMAND[exitCode] ?? "" };
}

/** The program whose code it is: the last of a single pipeline. Of anything more complex it is not known. */
function decidingProgram(commandLine: string): string | undefined {
  const trimmed = commandLine.trim();
  if (/&&|\|\||[;&\n`]|\$\(/.test(trimmed)) return undefined;
  const last = trimmed.split("|").at(-1)!.trim();
  return last === "" ? undefined : last.split(/\s+/)[0]!.split("/").at(-1);
}

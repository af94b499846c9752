/** What small models call an argument that a tool has under another name. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  path: ["file", "filename", "filepath", "targetfile", "file_name", "directory", "dir", "folder", "location", "uri", "relativepath"],
  command: ["cmd", "script", "shellcommand", "bash", "code", "commandline", "commands"],
  working_directory: ["cwd", "workdir", "workingdir", "dir", "directory"],
  timeout_seconds: ["timeout", "timeoutsec"],
  pattern: ["query", "regex", "regexp", "search", "searchterm", "keyword", "text", "glob"],
  query: ["q", "search", "question", "searchterm", "keyword", "text"],
  content: ["contents", "text", "body", "data", "filecontent", "filetext", "code"],
  old_text: ["oldstring", "oldstr", "old", "search", "find", "original", "oldcontent"],
  new_text: ["newstring", "newstr", "new", "replace", "replacement", "newcontent"],
  start_line: ["start", "from", "startline", "linestart", "offset", "firstline"],
  end_line: ["end", "to", "endline", "lineend", "lastline"],
  maximum_results: ["limit", "maxresults", "max", "maxcount"],
  ignore_case: ["caseinsensitive", "insensitive"],
  text: ["fact", "content", "memory"],
};
/** A name of so many letters more may have one more that is wrong. */
const LETTERS_A_TYPO = 4;
const MOST_TYPOS = 2;

/** `filePath`, `file-path` and `File_Path` are one name. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/**
 * Which of a tool's arguments a wrong name means.
 * @param free arguments that the call does not give yet
 * @returns undefined where none fits, or more than one does
 */
export function meantArgument(given: string, free: readonly string[]): string | undefined {
  const plain = plainName(given);
  const tests: ((argument: string) => boolean)[] = [
    (argument) => plainName(argument) === plain,
    (argument) => Object.hasOwn(ALIASES, argument) && ALIASES[argument]!.some((alias) => plainName(alias) === plain),
    (argument) => isTypo(plain, plainName(argument)),
  ];
  for (const fits of tests) {
    const fitting = free.filter(fits);
    if (fitting.length > 0) return fitting.length === 1 ? fitting[0] : undefined;
  }
  return undefined;
}

function isTypo(one: string, other: string): boolean {
  const most = Math.min(MOST_TYPOS, Math.floor(Math.min(one.length, other.length) / LETTERS_A_TYPO));
  return most > 0 && Math.abs(one.length - other.length) <= most && distance(one, other) <= most;
}

/** Letters to add, leave out or change. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1));
    row = next;
  }
  return row[other.length]!;
}

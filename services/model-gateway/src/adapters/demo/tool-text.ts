import type { ToolOutcome } from "./situation.ts";

export interface Line {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** What read_file returned, line by line. */
export function readLines(outcome: ToolOutcome): Line[] {
  const path = String(outcome.arguments.path ?? "");
  const numbered = outcome.content.split("\n").flatMap((line): Line[] => {
    const match = /^\s*(\d+)\s*(?:[:|│→\t]\s?|\s)(.*)$/.exec(line) ?? /^\s*(\d+)()$/.exec(line);
    return match === null ? [] : [{ path, line: Number(match[1]), text: match[2]! }];
  });
  return numbered;
}

/** What search_code returned: `path:line: text`. */
export function readHits(outcome: ToolOutcome): Line[] {
  return outcome.content.split("\n").flatMap((line): Line[] => {
    const match = /^(.+?):(\d+):\s?(.*)$/.exec(line);
    return match === null ? [] : [{ path: match[1]!, line: Number(match[2]), text: match[3]! }];
  });
}

/** What list_files returned: paths, folders with a slash at the end. */
export function readPaths(outcome: ToolOutcome): string[] {
  return outcome.content
    .split("\n")
    .map((line) => line.trim().replace(/^\.\//, ""))
    .filter((line) => line !== "" && !line.startsWith("("));
}

const LONGEST_QUOTE = 160;

export function quote({ path, line, text }: Line): string {
  const trimmed = text.trim();
  return `  ${path}:${line}: ${trimmed.length > LONGEST_QUOTE ? `${trimmed.slice(0, LONGEST_QUOTE)}…` : trimmed}`;
}

/** The beginning of a text, with how much was left out. */
export function head(text: string, lines: number): string {
  const all = text.trimEnd().split("\n");
  const shown = all.slice(0, lines).join("\n");
  return all.length > lines ? `${shown}\n… ${all.length - lines} more lines` : shown;
}

/** Says plainly that a call did not work, and what came back in place of a result. */
export function failureLine(outcome: ToolOutcome): string {
  return `${outcome.tool} did not work: ${head(outcome.content, 3) || "it returned nothing"}`;
}

import type { ToolOutcome } from "./situation.ts";

export interface Line {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** What read_file returned: a number, a tab and the line; the notes after them are left out. */
export function readLines(outcome: ToolOutcome): Line[] {
  const path = String(outcome.arguments.path ?? "");
  return outcome.content.split("\n").flatMap((line): Line[] => {
    const match = /^\s*(\d+)\t(.*)$/.exec(line);
    return match === null ? [] : [{ path, line: Number(match[1]), text: match[2]! }];
  });
}

/** What search_code returned: `path:line: text`. */
export function readHits(outcome: ToolOutcome): Line[] {
  return outcome.content.split("\n").flatMap((line): Line[] => {
    const match = /^([^[].*?):(\d+): ?(.*)$/.exec(line);
    return match === null ? [] : [{ path: match[1]!, line: Number(match[2]), text: match[3]! }];
  });
}

/** What list_files returned: paths, and folders that go deeper as `path/ (7 files)`; notes stand in brackets. */
export function readPaths(outcome: ToolOutcome): string[] {
  return outcome.content.split("\n").flatMap((line) => /^(?!\[)(.+?)(?:(?<=\/) \(\d+ files?\))?$/.exec(line)?.[1] ?? []);
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

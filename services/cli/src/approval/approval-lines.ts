import { printableLine } from "../terminal/printable.ts";
import type { Tone } from "../terminal/screen.ts";
import { changedLines } from "./changed-lines.ts";
import type { PresentFile } from "./present-file.ts";

export interface ApprovalLine {
  readonly text: string;
  readonly tone: Tone;
}

export interface ApprovalQuestion {
  readonly tool: string;
  /** The very bytes that will run. */
  readonly argumentsJson: string;
  /** `L1`, `L2`. */
  readonly safetyLevel: string;
  readonly reason: string;
  /** Looks at what stands at a path of the workspace now; undefined where nothing does, or where it cannot be looked at. */
  readonly look: (path: string) => PresentFile | undefined;
}

/** Of a file's new content, and of what it changes, at most so many lines are shown, the first and the last ones; a command is always shown whole. */
const MAXIMUM_CONTENT_LINES = 200;
const LAST_LINES = 40;

/** What a person has to see before saying yes: the exact command, the lines that go and come, or every argument. */
export function approvalLines(question: ApprovalQuestion): ApprovalLine[] {
  return [
    {
      text: `${printableLine(question.tool)} (${question.safetyLevel}) has to be approved: ${printableLine(question.reason, Infinity)}`,
      tone: "warning",
    },
    ...argumentLines(question).map((line) => ({ ...line, text: `  ${line.text}` })),
  ];
}

function argumentLines({ tool, argumentsJson, look }: ApprovalQuestion): ApprovalLine[] {
  const given = parseObject(argumentsJson);
  if (given === undefined) return [{ text: argumentsJson, tone: "plain" }];
  if (tool === "shell_exec" && typeof given.command === "string") {
    const { command, ...rest } = given;
    return [...lines(command, "$ ", "  ", "plain"), ...otherArguments(rest)];
  }
  if (tool === "write_file" && typeof given.path === "string" && typeof given.content === "string") {
    const { path, content, ...rest } = given;
    const present = look(path);
    const inPlace = present === undefined ? "" : `, in place of the ${present.bytes} bytes that are there now`;
    return [
      { text: `write ${exactly(path)} (${content.length} characters)${inPlace}`, tone: "plain" },
      ...cut(writtenLines(content, present)),
      ...otherArguments(rest),
    ];
  }
  if (tool === "edit_file" && typeof given.path === "string" && typeof given.old_text === "string" && typeof given.new_text === "string") {
    const { path, old_text: before, new_text: after, replace_all: everywhere, ...rest } = given;
    return [
      { text: `edit ${exactly(path)}${everywhere === true ? ", every occurrence" : ""}`, tone: "plain" },
      ...cut(lines(before, "- ", "- ", "bad")),
      ...cut(lines(after, "+ ", "+ ", "good")),
      ...otherArguments(rest),
    ];
  }
  return otherArguments(given);
}

const DIFF_TONES: Readonly<Record<string, Tone>> = { "+": "good", "-": "bad", "@": "dim", "\\": "dim" };

/** What changes where a text is written over, else every line of the new one. */
function writtenLines(content: string, present: PresentFile | undefined): ApprovalLine[] {
  const changed = present?.text === undefined ? undefined : changedLines(present.text, content);
  if (changed === undefined) return lines(content, "+ ", "+ ", "good");
  if (changed.length === 0) return [{ text: "nothing changes", tone: "plain" }];
  return changed.map((line) => ({ text: line, tone: DIFF_TONES[line[0]!] ?? "plain" }));
}

function otherArguments(given: Readonly<Record<string, unknown>>): ApprovalLine[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const before = `${exactly(name)}: `;
    return lines(typeof value === "string" ? value : JSON.stringify(value), before, " ".repeat(before.length), "plain");
  });
}

/** On one line, whole, and not to be taken for anything else: a path or a name with unusual blanks is written as JSON. */
function exactly(text: string): string {
  return /^(?!")\S+( \S+)*$/.test(text) ? text : JSON.stringify(text);
}

function lines(text: string, first: string, next: string, tone: Tone): ApprovalLine[] {
  return text.split("\n").map((line, index) => ({ text: `${index === 0 ? first : next}${line}`, tone }));
}

function cut(all: ApprovalLine[]): ApprovalLine[] {
  if (all.length <= MAXIMUM_CONTENT_LINES) return all;
  const hidden = all.length - MAXIMUM_CONTENT_LINES;
  return [
    ...all.slice(0, MAXIMUM_CONTENT_LINES - LAST_LINES),
    { text: `… ${hidden} lines are not shown here; \`hlvm session show ID --json\` in another terminal has them …`, tone: "warning" },
    ...all.slice(-LAST_LINES),
  ];
}

function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

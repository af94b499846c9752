import { printableLine } from "../terminal/printable.ts";
import type { Tone } from "../terminal/screen.ts";

export interface ApprovalLine {
  readonly text: string;
  readonly tone: Tone;
}

export interface ApprovalQuestion {
  readonly tool: string;
  /** The very bytes that will run: nothing is shown that is not taken from them. */
  readonly argumentsJson: string;
  /** `L1`, `L2`. */
  readonly safetyLevel: string;
  readonly reason: string;
}

/** Of a file's new content at most so many lines are shown, the first and the last ones; a command is always shown whole. */
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

function argumentLines({ tool, argumentsJson }: ApprovalQuestion): ApprovalLine[] {
  const given = parseObject(argumentsJson);
  if (given === undefined) return [{ text: argumentsJson, tone: "plain" }];
  if (tool === "shell_exec" && typeof given.command === "string") {
    const { command, ...rest } = given;
    return [...lines(command, "$ ", "  ", "plain"), ...otherArguments(rest)];
  }
  if (tool === "write_file" && typeof given.path === "string" && typeof given.content === "string") {
    const { path, content, ...rest } = given;
    return [
      { text: `write ${exactly(path)} (${content.length} characters)`, tone: "plain" },
      ...cut(lines(content, "+ ", "+ ", "good")),
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

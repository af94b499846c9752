import { outlineOf } from "../outline.ts";
import { readTextFile } from "../text-file.ts";
import { ToolFailure, type ToolAnswer } from "../tool.ts";

/** A file up to this comes whole. */
const WHOLE_LINES = 500;
const WHOLE_BYTES = 40_000;
/** Of a longer one the beginning is shown, and the outline. */
const BEGINNING_LINES = 80;
/** The most that one call shows, whatever range was asked for. */
const SHOWN_BYTES = 100_000;
const SHOWN_LINE_CHARACTERS = 2_000;

export interface ReadFileArguments {
  readonly path: string;
  readonly start_line?: number;
  readonly end_line?: number;
}

export async function readFile(given: ReadFileArguments): Promise<ToolAnswer> {
  const { text, bytes } = await readTextFile(given.path);
  const lines = linesOf(text);
  const count = `${lines.length} ${lines.length === 1 ? "line" : "lines"}`;
  if (lines.length === 0) return { content: `${given.path} is empty.`, summary: "empty", resultBytes: 0 };
  if (given.start_line !== undefined || given.end_line !== undefined) return range(lines, given, bytes);
  if (lines.length <= WHOLE_LINES && bytes <= WHOLE_BYTES) {
    const shown = numbered(lines, 1, lines.length);
    return { content: shown.text, summary: count, resultBytes: bytes, truncated: shown.cut };
  }
  const beginning = numbered(lines, 1, BEGINNING_LINES);
  const outline = outlineOf(given.path, lines);
  const content = [
    beginning.text,
    `[${given.path} has ${count}, ${bytes} bytes; shown are lines 1 to ${beginning.last}. Ask for the rest with start_line and end_line.]`,
    ...(outline.length === 0 ? [] : ["Outline:", ...outline]),
  ].join("\n");
  return { content, summary: `${count}, beginning and outline`, resultBytes: bytes, truncated: true };
}

function range(lines: readonly string[], given: ReadFileArguments, bytes: number): ToolAnswer {
  const first = given.start_line ?? 1;
  const wanted = Math.min(given.end_line ?? lines.length, lines.length);
  if (first > lines.length)
    throw new ToolFailure("invalid_arguments", `start_line ${first} is past the end: ${given.path} has ${lines.length} lines.`);
  if (given.end_line !== undefined && given.end_line < first)
    throw new ToolFailure("invalid_arguments", `end_line ${given.end_line} is before start_line ${first}.`);
  const shown = numbered(lines, first, wanted);
  const isShort = shown.last < wanted;
  const note = isShort
    ? `\n[Cut at ${SHOWN_BYTES} bytes; go on with start_line ${shown.last + 1}. The file has ${lines.length} lines.]`
    : "";
  return {
    content: shown.text + note,
    summary: `lines ${first} to ${shown.last} of ${lines.length}`,
    resultBytes: bytes,
    truncated: isShort || shown.cut,
  };
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function numbered(lines: readonly string[], first: number, last: number): { text: string; last: number; cut: boolean } {
  const width = String(last).length;
  const shown: string[] = [];
  let bytes = 0;
  let cut = false;
  for (let number = first; number <= Math.min(last, lines.length); number++) {
    const line = lines[number - 1]!.replace(/\r$/, "");
    const isLong = line.length > SHOWN_LINE_CHARACTERS;
    const visible = isLong ? `${line.slice(0, SHOWN_LINE_CHARACTERS)} [… ${line.length - SHOWN_LINE_CHARACTERS} more characters]` : line;
    const entry = `${String(number).padStart(width)}\t${visible}`;
    bytes += Buffer.byteLength(entry) + 1;
    if (bytes > SHOWN_BYTES && shown.length > 0) return { text: shown.join("\n"), last: number - 1, cut: true };
    cut ||= isLong;
    shown.push(entry);
  }
  return { text: shown.join("\n"), last: first + shown.length - 1, cut };
}

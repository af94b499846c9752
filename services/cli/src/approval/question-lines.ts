import { RenderedSpan_Kind, type Approval, type RenderedLine } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { visibleLine } from "@hlvm/visible-text/visible-text";
import { formatPatch, OMIT_HEADERS, structuredPatch } from "diff";
import type { Piece, Tone } from "../terminal/paint.ts";
import type { PresentFile } from "./present-file.ts";

const DIFF_CONTEXT_LINES = 3;
/** Texts that differ by more have little in common that is worth finding. */
const MAXIMUM_CHANGES = 2_000;
const DIFF_DEADLINE_MILLISECONDS = 200;

/** A line of what a person is asked about: it begins an argument, goes on with one, or is a word of ours about it. */
export interface QuestionLine {
  readonly place: "first" | "further" | "note";
  readonly pieces: readonly Piece[];
}

/** Looks at what stands at a path of the workspace now; undefined where nothing does, or where it cannot be looked at. */
export type Look = (path: string) => PresentFile | undefined;

const TONES: Readonly<Record<number, Tone>> = {
  [RenderedSpan_Kind.LABEL]: "label",
  [RenderedSpan_Kind.ESCAPED]: "escaped",
  [RenderedSpan_Kind.MARKED]: "marked",
};
const DIFF_TONES: Readonly<Record<string, Tone>> = { "+": "good", "-": "bad", "@": "dim", "\\": "dim" };

/** What policy shows of a call, whole; where a text is written over, what that changes in place of the new text. */
export function questionLines({ tool, argumentsJson, rendering }: Approval, look: Look): QuestionLine[] {
  if (rendering === undefined) return [{ place: "first", pieces: visiblePieces(argumentsJson, "plain") }];
  const lines = [...rendering.lines.map(lineOf), ...omission(rendering.omittedCharacters)];
  const written = tool === "write_file" ? writtenText(argumentsJson) : undefined;
  const present = written && look(written.path);
  if (written === undefined || present === undefined) return lines;
  const start = rendering.lines.findIndex(({ spans }) => spans[0]?.text === "content:");
  if (start < 0) return lines;
  const next = rendering.lines.findIndex(({ spans }, index) => index > start && spans[0]?.kind === RenderedSpan_Kind.LABEL);
  const end = next < 0 ? rendering.lines.length : next;
  const changed = present.text === undefined ? undefined : changedLines(present.text, written.content);
  const size = `${written.content.length} characters are written in place of the ${present.bytes} bytes that are there now`;
  if (changed === undefined) return lines.toSpliced(start, 0, note(`${size}.`));
  const what = changed.length === 0 ? `${size}; nothing changes.` : `${size}; what changes:`;
  return lines.toSpliced(start, end - start, note(what), ...changed.map(diffLine));
}

function omission(characters: number): QuestionLine[] {
  if (characters === 0) return [];
  return [note(`${characters} more characters are too many to be shown; hlvm approval show ID --json has the arguments whole.`)];
}

export function note(text: string): QuestionLine {
  return { place: "note", pieces: [{ text, tone: "dim" }] };
}

/** An argument's name is set apart from what follows it. */
function lineOf({ spans }: RenderedLine): QuestionLine {
  const pieces = spans.map(({ text, kind }): Piece => ({ text, tone: TONES[kind] ?? "plain" }));
  if (spans[0]?.kind !== RenderedSpan_Kind.LABEL) return { place: "further", pieces };
  return { place: "first", pieces: [pieces[0]!, { text: " ", tone: "plain" }, ...pieces.slice(1)] };
}

function diffLine(line: string): QuestionLine {
  const tone = DIFF_TONES[line[0]!] ?? "plain";
  return { place: "further", pieces: [{ text: line[0]!, tone }, ...visiblePieces(line.slice(1), tone)] };
}

/** A text by itself, with whatever would hide in it. */
export function textLines(text: string): QuestionLine[] {
  return text.split("\n").map((line) => ({ place: "further", pieces: visiblePieces(line, "plain") }));
}

function visiblePieces(text: string, tone: Tone): Piece[] {
  return visibleLine(text).map((piece) => ({ text: piece.text, tone: piece.isEscaped ? "escaped" : tone }));
}

function writtenText(argumentsJson: string): { path: string; content: string } | undefined {
  const { path, content } = JSON.parse(argumentsJson) as { path?: unknown; content?: unknown };
  return typeof path === "string" && typeof content === "string" ? { path, content } : undefined;
}

/**
 * What a new text changes, as lines of a unified diff without its head. Empty where nothing changes.
 * @returns undefined where they have too little in common, or it takes too long to find
 */
function changedLines(before: string, after: string): string[] | undefined {
  const options = { context: DIFF_CONTEXT_LINES, maxEditLength: MAXIMUM_CHANGES, timeout: DIFF_DEADLINE_MILLISECONDS };
  const patch = structuredPatch("", "", before, after, "", "", options);
  if (patch === undefined) return undefined;
  return patch.hunks.length === 0 ? [] : formatPatch(patch, OMIT_HEADERS).replace(/\n$/, "").split("\n");
}

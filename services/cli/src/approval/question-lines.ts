import { RenderedSpan_Kind, type Approval, type RenderedLine } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { visibleLine } from "@hlvm/visible-text/visible-text";
import type { Piece, Tone } from "../terminal/paint.ts";
import { changedLines } from "./changed-lines.ts";
import type { PresentFile } from "./present-file.ts";

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

function visiblePieces(text: string, tone: Tone): Piece[] {
  return visibleLine(text).map((piece) => ({ text: piece.text, tone: piece.isEscaped ? "escaped" : tone }));
}

function writtenText(argumentsJson: string): { path: string; content: string } | undefined {
  const { path, content } = JSON.parse(argumentsJson) as { path?: unknown; content?: unknown };
  return typeof path === "string" && typeof content === "string" ? { path, content } : undefined;
}

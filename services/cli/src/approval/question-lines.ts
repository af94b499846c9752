import { RenderedSpan_Kind, type Approval, type RenderedLine } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { visibleLine } from "@hlvm/visible-text/visible-text";
import type { Piece, Tone } from "../terminal/paint.ts";

/** A line of what a person is asked about: it begins an argument, goes on with one, or is a word of ours about it. */
export interface QuestionLine {
  readonly place: "first" | "further" | "note";
  readonly pieces: readonly Piece[];
}

const TONES: Readonly<Record<number, Tone>> = {
  [RenderedSpan_Kind.LABEL]: "label",
  [RenderedSpan_Kind.ESCAPED]: "escaped",
  [RenderedSpan_Kind.MARKED]: "marked",
};
const CHANGE_TONES: Readonly<Record<string, Tone>> = { "+": "good", "-": "bad", "@": "dim", "\\": "dim" };

/** What policy shows of a call, whole; where a text is written over, what that changes in place of the new text. */
export function questionLines({ tool, argumentsJson, rendering, preview }: Approval): QuestionLine[] {
  if (rendering === undefined) return [{ place: "first", pieces: visiblePieces(argumentsJson, "plain") }];
  const lines = [...rendering.lines.map(lineOf), ...omission(rendering.omittedCharacters)];
  if (preview === undefined || !preview.present) return lines;
  const isWhole = preview.lines.length > 0 && preview.omittedCharacters === 0;
  const changes = isWhole ? preview.lines.map(changedLine) : [];
  if (tool !== "write_file") return isWhole ? [...lines, note("What changes:"), ...changes] : lines;
  const start = rendering.lines.findIndex(({ spans }) => spans[0]?.text === "content:");
  if (start < 0) return lines;
  const next = rendering.lines.findIndex(({ spans }, index) => index > start && spans[0]?.kind === RenderedSpan_Kind.LABEL);
  const end = next < 0 ? rendering.lines.length : next;
  const size = `It is written in place of the ${preview.presentBytes} bytes that are there now`;
  if (!isWhole) return lines.toSpliced(start, 0, note(`${size}.`));
  return lines.toSpliced(start, end - start, note(`${size}; what changes:`), ...changes);
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

/** The first span says what becomes of the line. */
function changedLine({ spans }: RenderedLine): QuestionLine {
  const tone = CHANGE_TONES[spans[0]?.text[0] ?? ""] ?? "plain";
  return { place: "further", pieces: spans.map(({ text, kind }) => ({ text, tone: TONES[kind] ?? tone })) };
}

/** A text by itself, with whatever would hide in it. */
export function textLines(text: string): QuestionLine[] {
  return text.split("\n").map((line) => ({ place: "further", pieces: visiblePieces(line, "plain") }));
}

function visiblePieces(text: string, tone: Tone): Piece[] {
  return visibleLine(text).map((piece) => ({ text: piece.text, tone: piece.isEscaped ? "escaped" : tone }));
}

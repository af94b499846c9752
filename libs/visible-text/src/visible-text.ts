import { isHidden, standIn } from "./hidden-character.ts";

/** A stretch of a text, as a person sees it. */
export interface VisiblePiece {
  /** Where it stands in the text, in UTF-16 units; the end is not included. */
  readonly start: number;
  readonly end: number;
  /** The stretch itself, or a stand-in for it: `␛`, `U+202E`, `␠ × 3000`, `60 empty lines`. */
  readonly text: string;
  readonly isEscaped: boolean;
}

/** So many blanks or more within a line are counted instead of shown. */
const COUNTED_BLANKS = 8;
/** Code is indented: at the beginning of a line blanks are counted only where there are more of them. */
const DEEPEST_INDENTATION = 32;
const COUNTED_EMPTY_LINES = 3;
/** Of the marks on one letter, as scripts such as Devanagari put them. */
const MARKS_ON_A_LETTER = 3;

const NEEDS_A_LOOK = /[^ -~]| {8}| $/;
const LETTER = /^[\p{L}\p{N}]$/u;
const MARK = /^\p{M}$/u;
/** Accents, overlays and enclosing signs that go with any script: a letter with one may look like another, or like none. */
const MARK_OF_ANY_SCRIPT = /^[\p{Script=Inherited}\p{Script=Common}\p{Me}]$/u;

/**
 * A text as lines of pieces in which nothing hides: no control character, no bidirectional or zero-width character, no
 * unusual blank, no pile of accents, no run of blanks or of empty lines. Nothing is lost either: two texts that differ
 * never come out the same, and the pieces cover the text from its beginning to its end, but for the line ends.
 */
export function visibleText(text: string): VisiblePiece[][] {
  const lines: VisiblePiece[][] = [];
  let start = 0;
  for (;;) {
    const empty = emptyLinesAt(text, start);
    if (empty >= COUNTED_EMPTY_LINES) {
      const end = start + empty - 1;
      lines.push([{ start, end, text: `${empty} empty lines`, isEscaped: true }]);
      if (end >= text.length) return lines;
      start = end + 1;
      continue;
    }
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    lines.push(visibleLine(text.slice(start, end), start));
    if (newline < 0) return lines;
    start = newline + 1;
  }
}

/** How many lines from here on hold nothing. */
function emptyLinesAt(text: string, start: number): number {
  let at = start;
  while (text[at] === "\n") at += 1;
  return at - start + (at === text.length ? 1 : 0);
}

/** The same for a text that is one line: a line end in it is shown as `␊`. */
export function visibleLine(line: string, offset = 0): VisiblePiece[] {
  if (line === "") return [];
  if (!NEEDS_A_LOOK.test(line)) return [{ start: offset, end: offset + line.length, text: line, isEscaped: false }];
  const pieces: VisiblePiece[] = [];
  let plain = 0;
  let marks = Infinity;
  for (let at = 0; at < line.length;) {
    const character = String.fromCodePoint(line.codePointAt(at)!);
    const isMark = MARK.test(character);
    const count = runOf(line, at, character);
    const isShown = isMark
      ? marks >= MARKS_ON_A_LETTER || MARK_OF_ANY_SCRIPT.test(character) || isHidden(character)
      : character === " "
        ? isCountedBlank(line, at, count)
        : isHidden(character);
    // A letter carries marks; what is shown by a stand-in, a blank or a sign carries none.
    marks = isMark && !isShown ? marks + 1 : LETTER.test(character) ? 0 : Infinity;
    if (!isShown) {
      at += character === " " ? count : character.length;
      continue;
    }
    const end = at + count * character.length;
    if (plain < at) pieces.push({ start: offset + plain, end: offset + at, text: line.slice(plain, at), isEscaped: false });
    const text = count === 1 ? standIn(character) : `${standIn(character)} × ${count}`;
    pieces.push({ start: offset + at, end: offset + end, text, isEscaped: true });
    plain = at = end;
  }
  if (plain < line.length) pieces.push({ start: offset + plain, end: offset + line.length, text: line.slice(plain), isEscaped: false });
  return pieces;
}

function isCountedBlank(line: string, at: number, count: number): boolean {
  if (at + count === line.length) return true;
  return at === 0 ? count > DEEPEST_INDENTATION : count >= COUNTED_BLANKS;
}

function runOf(line: string, start: number, character: string): number {
  let at = start;
  while (line.startsWith(character, at) && line.codePointAt(at) === character.codePointAt(0)) at += character.length;
  return (at - start) / character.length;
}

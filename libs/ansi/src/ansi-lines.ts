import { nearestColour } from "./nearest-colour.ts";

/** How characters look. Colours are those of a terminal, 0 to 15: black, red, green, yellow, blue, magenta, cyan, white, and bright. */
export interface AnsiStyle {
  readonly foreground: number | undefined;
  readonly background: number | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isItalic: boolean;
  readonly isUnderlined: boolean;
  readonly isInverse: boolean;
}

/** Neighbouring characters of one style. */
export interface AnsiSpan {
  readonly text: string;
  readonly style: AnsiStyle;
}

interface Cell {
  readonly character: string;
  readonly style: AnsiStyle;
}

export const PLAIN: AnsiStyle = {
  foreground: undefined,
  background: undefined,
  isBold: false,
  isDim: false,
  isItalic: false,
  isUnderlined: false,
  isInverse: false,
};

/** What an escape that begins nothing is shown as: left as it is, it might begin something with what comes to stand behind it. */
const LONE_ESCAPE = "␛";
/** CSI with its parameters and its last character; OSC and other strings up to their end; any other escape of two characters. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const PIECE = /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-Z\\^-~]|[\s\S]/gu;

/**
 * What a command printed, as a person would read it afterwards: colours are kept, what was overwritten within a line (carriage
 * return, backspace, erasing in the line) is gone, and lines are never taken back: a record is no screen, so what would clear one or
 * move on it does nothing. Other control characters stay in the text, but for an
 * escape, which is shown as ␛.
 */
export function ansiLines(text: string): AnsiSpan[][] {
  const lines: AnsiSpan[][] = [];
  let cells: Cell[] = [];
  let column = 0;
  let style = PLAIN;
  for (const [piece, parameters = "", final] of text.matchAll(PIECE)) {
    if (final === "m") style = styled(style, parameters);
    else if (final === "K") cells = erased(cells, column, parameters);
    else if (piece === "\n") {
      lines.push(spansOf(cells));
      cells = [];
      column = 0;
    } else if (piece === "\r") column = 0;
    else if (piece === "\b") column = Math.max(0, column - 1);
    else if (piece.length > 2 || (piece.length === 2 && piece.startsWith("\u001b"))) continue;
    else {
      while (cells.length < column) cells.push({ character: " ", style: PLAIN });
      cells[column] = { character: piece === "\u001b" ? LONE_ESCAPE : piece, style };
      column += 1;
    }
  }
  lines.push(spansOf(cells));
  return lines;
}

/** Erases to the end of the line, from its beginning, or all of it. */
function erased(cells: readonly Cell[], column: number, parameters: string): Cell[] {
  if (parameters === "2") return [];
  if (parameters === "1") return cells.map((cell, at) => (at <= column ? { character: " ", style: PLAIN } : cell));
  return cells.slice(0, column);
}

function spansOf(cells: readonly Cell[]): AnsiSpan[] {
  const spans: { text: string; style: AnsiStyle }[] = [];
  for (const { character, style } of cells) {
    const last = spans.at(-1);
    if (last !== undefined && isSame(last.style, style)) last.text += character;
    else spans.push({ text: character, style });
  }
  return spans;
}

function isSame(one: AnsiStyle, other: AnsiStyle): boolean {
  return one === other || (Object.keys(PLAIN) as (keyof AnsiStyle)[]).every((name) => one[name] === other[name]);
}

function styled(before: AnsiStyle, parameters: string): AnsiStyle {
  const codes = parameters.split(/[;:]/).map((code) => Number(code || 0));
  let style = before;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1));
      style = { ...style, [code === 38 ? "foreground" : "background"]: colour };
      at += used;
    } else style = changed(style, code);
  }
  return style;
}

function changed(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 3) return { ...style, isItalic: true };
  if (code === 4) return { ...style, isUnderlined: true };
  if (code === 7) return { ...style, isInverse: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  if (code === 23) return { ...style, isItalic: false };
  if (code === 24) return { ...style, isUnderlined: false };
  if (code === 27) return { ...style, isInverse: false };
  if (code >= 30 && code <= 37) return { ...style, foreground: code - 30 };
  if (code === 39) return { ...style, foreground: undefined };
  if (code >= 40 && code <= 47) return { ...style, background: code - 40 };
  if (code === 49) return { ...style, background: undefined };
  if (code >= 90 && code <= 97) return { ...style, foreground: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, background: code - 92 };
  return style;
}

/** Of 256 colours or of all of them, the nearest that everybody has. @returns it, and how many numbers said it */
function extended([kind, first = 0, second = 0, third = 0]: readonly number[]): readonly [number | undefined, number] {
  if (kind === 5) return [nearestColour(first), 2];
  if (kind === 2) return [nearestColour([first, second, third]), 4];
  return [undefined, 0];
}

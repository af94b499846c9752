import { printable } from "./printable.ts";
import { displayWidth } from "./wrap-pieces.ts";

/** What of a text is seen on one row, on either side of the cursor. */
export interface DraftView {
  readonly before: string;
  readonly after: string;
}

const CUT = "…";
const graphemes = new Intl.Segmenter();

/**
 * A text that is being typed, as one row of at most so many columns with the cursor in it. Whatever was pasted, nothing of it
 * makes a terminal act; line ends are shown by a sign.
 */
export function draftView(before: string, after: string, columns: number): DraftView {
  // A character that is seen takes a column at least, so no more can be wanted.
  const near = 4 * columns;
  const left = shownOnOneRow(before.slice(-near));
  const right = shownOnOneRow(after.slice(0, near));
  const ending = Math.min(displayWidth(right), Math.floor(columns / 4));
  const shownLeft = before.length > near || displayWidth(left) > columns - ending ? CUT + lastColumns(left, columns - ending - 2) : left;
  return { before: shownLeft, after: firstColumns(right, columns - displayWidth(shownLeft)) };
}

/** As much of a text's beginning as so many columns hold. */
export function firstColumns(text: string, columns: number): string {
  let shown = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += displayWidth(segment);
    if (used > columns) break;
    shown += segment;
  }
  return shown;
}

function lastColumns(text: string, columns: number): string {
  let shown = "";
  let used = 0;
  for (const { segment } of Array.from(graphemes.segment(text)).toReversed()) {
    used += displayWidth(segment);
    if (used > columns) break;
    shown = segment + shown;
  }
  return shown;
}

function shownOnOneRow(text: string): string {
  return printable(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
}

import { displayWidth } from "./wrap-pieces.ts";

const TAB_COLUMNS = 8;
const graphemes = new Intl.Segmenter();
const TAKES_NO_COLUMN = /^[\p{M}\u200d]$/u;
/** Text whose width every terminal agrees on, so that it wraps where we think that it does. */
const KNOWN_WIDTH = /^[ -~\u00a1-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2190-\u2193]*$/;

/** Text for a terminal, and what is on its last row once that is written. */
export interface WrittenRow {
  readonly text: string;
  readonly row: string;
}

/**
 * Goes on with a row of output whose line has not ended. The terminal wraps what is too long; where its width may be other
 * than ours, which is never too small, the row is ended before it would.
 */
export function continueRow(row: string, more: string, columns: number): WrittenRow {
  let text = "";
  let used = columnsOf(row);
  for (const { segment } of graphemes.segment(more)) {
    if (segment === "\n") {
      text += "\n";
      row = "";
      used = 0;
      continue;
    }
    const width = columnsOf(segment, used);
    if (used + width > columns) {
      if (!KNOWN_WIDTH.test(row + segment)) text += "\n";
      row = "";
      used = 0;
    }
    text += segment;
    row += segment;
    used += width;
  }
  return { text, row };
}

/** @param from the column that the text begins at */
function columnsOf(text: string, from = 0): number {
  let used = from;
  for (const character of text) {
    if (character === "\t") used += TAB_COLUMNS - (used % TAB_COLUMNS);
    else if (!TAKES_NO_COLUMN.test(character)) used += displayWidth(character);
  }
  return used - from;
}

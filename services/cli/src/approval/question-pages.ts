import type { Piece } from "../terminal/paint.ts";
import { wrapPieces } from "../terminal/wrap-pieces.ts";
import { note, type QuestionLine } from "./question-lines.ts";
import { questionRows, type QuestionRow, type RowWidth } from "./question-rows.ts";

export interface ScreenSize extends RowWidth {
  readonly rows: number;
}

/** Rows for one screen. */
export type Page = readonly (readonly Piece[])[];

/** Below a page: what can be answered, what is said to a key that does not count yet, and the line that the cursor is on. */
const ROWS_BELOW = 3;
const LEAST_ROWS_OF_TEXT = 3;

/**
 * What is asked, as pages that fit the screen. The first holds why it is asked, the beginning, and the part that made policy
 * ask, be it ever so far down.
 */
export function questionPages(heading: string, lines: readonly QuestionLine[], size: ScreenSize): Page[] {
  const rows = questionRows(lines, size);
  const rowsFor = (text: string): number => Math.max(size.rows - ROWS_BELOW - headingRows(text, size).length, LEAST_ROWS_OF_TEXT);
  if (rows.length <= rowsFor(heading)) return [[...headingRows(heading, size), ...rows.map(({ pieces }) => pieces)]];
  const numbered = (page: string, of: string, text: string): string => `${page} of ${of} pages · ${text}`;
  // Numbers of as many digits as there may be, so that the real ones fit.
  const digits = String(rows.length);
  const first = firstPage(rows, rowsFor(numbered(digits, digits, heading)), size);
  const [short = ""] = heading.split(":");
  const perPage = rowsFor(numbered(digits, digits, short));
  const bodies = [first.body];
  for (let at = first.shown; at < rows.length; at += perPage) bodies.push(rows.slice(at, at + perPage));
  return bodies.map((body, index) => [
    ...headingRows(numbered(String(index + 1), String(bodies.length), index === 0 ? heading : short), size),
    ...body.map(({ pieces }) => pieces),
  ]);
}

function headingRows(text: string, { columns }: ScreenSize): Piece[][] {
  return wrapPieces([{ text, tone: "warning" }], columns);
}

/** The beginning, and below it marked rows from further on where there are any: at most half of the page. */
function firstPage(rows: readonly QuestionRow[], room: number, width: RowWidth): { body: readonly QuestionRow[]; shown: number } {
  const later = markedAfter(rows, room);
  if (later.length === 0) return { body: rows.slice(0, room), shown: room };
  const heading = questionRows([note("What made policy ask, from further on:")], width);
  const excerpt = Math.min(Math.max(Math.floor(room / 2), 1), rows.filter(({ isMarked }) => isMarked).length);
  const shown = Math.max(room - heading.length - excerpt, 1);
  return { body: [...rows.slice(0, shown), ...heading, ...markedAfter(rows, shown).slice(0, excerpt)], shown };
}

/** Marked rows that are not on the page, but for those that go on with what is marked at its end. */
function markedAfter(rows: readonly QuestionRow[], shown: number): QuestionRow[] {
  let from = shown;
  if (rows[shown - 1]?.isMarked === true) while (rows[from]?.isMarked === true) from += 1;
  return rows.slice(from).filter(({ isMarked }) => isMarked);
}

import { inBrackets, type Piece } from "../terminal/paint.ts";
import { wrapPieces } from "../terminal/wrap-pieces.ts";
import type { QuestionLine } from "./question-lines.ts";

/** A row of the terminal. */
export interface QuestionRow {
  readonly pieces: readonly Piece[];
  /** It holds something of the part that made policy ask. */
  readonly isMarked: boolean;
}

export interface RowWidth {
  readonly columns: number;
  readonly colour: boolean;
}

const PLACES = { first: " ", further: "|", note: "-" } as const;
const WRAPPED = "+";
/** What stands before the text of every row, and cannot be drawn by a text: where the row belongs, and whether it is marked. */
const MARGIN_COLUMNS = 3;
const LEAST_COLUMNS = 24;

/** Lines as rows that fit the terminal: what is too long is broken, never cut. */
export function questionRows(lines: readonly QuestionLine[], { columns, colour }: RowWidth): QuestionRow[] {
  const width = Math.max(columns, LEAST_COLUMNS) - MARGIN_COLUMNS;
  return lines.flatMap(({ place, pieces }) =>
    wrapPieces(colour ? pieces : inBrackets(pieces), width).map((row, index) => {
      const isMarked = row.some(({ tone }) => tone === "marked");
      const margin = `${index === 0 ? PLACES[place] : WRAPPED}${isMarked ? ">" : " "} `;
      return { pieces: [{ text: margin, tone: isMarked ? "marked" : "dim" }, ...row], isMarked };
    }),
  );
}

import type { Piece } from "./paint.ts";

const MARK = /^\p{M}$/u;
/** From here on there are characters of two columns; some that take one are counted as two as well, which only breaks earlier. */
const FIRST_WIDE = 0x1100;
/** Behind that: punctuation, currencies, arrows and mathematics, which take one. */
const NARROW = /[\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u22ff\u2500-\u25fc]/u;

/** Breaks a line into rows of at most so many columns; nothing is left out, and a stand-in stays in one piece. */
export function wrapPieces(pieces: readonly Piece[], columns: number): Piece[][] {
  const rows: Piece[][] = [[]];
  let used = 0;
  const put = (text: string, tone: Piece["tone"], width: number): void => {
    if (used > 0 && used + width > columns) {
      rows.push([]);
      used = 0;
    }
    const row = rows.at(-1)!;
    const last = row.at(-1);
    if (last?.tone === tone && tone !== "escaped") row[row.length - 1] = { text: last.text + text, tone };
    else row.push({ text, tone });
    used += width;
  };
  for (const { text, tone } of pieces) {
    const width = displayWidth(text);
    if (used + width <= columns || (tone === "escaped" && width <= columns)) put(text, tone, width);
    else for (const unit of unitsOf(text, columns - used, columns)) put(unit, tone, displayWidth(unit));
  }
  return rows;
}

/** In columns, rather too many than too few. */
export function displayWidth(text: string): number {
  if (!/[^ -~]/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += character.codePointAt(0)! < FIRST_WIDE || NARROW.test(character) ? 1 : 2;
  return width;
}

/** What may be put on a row of its own: as much ASCII as fits a row, a character with its marks. */
function unitsOf(text: string, first: number, columns: number): string[] {
  if (!/[^ -~]/.test(text)) {
    const units = [text.slice(0, first)];
    for (let at = first; at < text.length; at += columns) units.push(text.slice(at, at + columns));
    return units.filter((unit) => unit !== "");
  }
  const units: string[] = [];
  for (const character of text) {
    if (MARK.test(character) && units.length > 0) units[units.length - 1] += character;
    else units.push(character);
  }
  return units;
}

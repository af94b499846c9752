const ESCAPE = "\u001b";
const BELL = "\u0007";
const CLEARS = new Set(["", "0", "2"].map((what) => `${ESCAPE}[${what}J`));
const ESCAPE_OR_CHARACTER = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]|${ESCAPE}\\][^${BELL}]*${BELL}|${ESCAPE}.|[^]`, "gu");

/** What a terminal of this size shows of what was written to it: the last rows, long lines wrapped. */
export function visibleScreen(written: string, rows: number, columns: number): string {
  const lines: string[][] = [[]];
  let column = 0;
  for (const [piece] of written.matchAll(ESCAPE_OR_CHARACTER)) {
    if (piece === "\n") lines.push([]);
    else if (piece === "\r") column = 0;
    else if (piece === "\b") column = Math.max(0, column - 1);
    else if (piece === "\t") column = Math.min(columns - 1, (Math.floor(column / 8) + 1) * 8);
    else if (CLEARS.has(piece)) clearScreen(piece);
    else if (piece.startsWith(ESCAPE)) continue;
    else put(piece);
  }
  return lines
    .slice(-rows)
    .map((line) => Array.from(line, (character) => character ?? " ").join(""))
    .join("\n");

  function put(character: string): void {
    if (column >= columns) {
      lines.push([]);
      column = 0;
    }
    lines.at(-1)![column++] = character;
  }

  function clearScreen(piece: string): void {
    if (piece === `${ESCAPE}[2J`) lines.splice(0, lines.length, []);
    else lines.at(-1)!.length = column;
  }
}

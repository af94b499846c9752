export interface SaidTurn {
  readonly speaker: "person" | "assistant" | "tool" | "harness";
  readonly text: string;
}

const MOST_OF_A_TURN = 4_000;
/** How much of the room is for a session's beginning, which says what was wanted; its end says how it stood. */
const BEGINNING = 1 / 3;

/**
 * What person and assistant said, as JSON, so that no text can be taken for anything around it. What tools print names everything and
 * says nothing. Of a long session beginning and end are there.
 * @returns empty where nobody said anything
 */
export function sessionExcerpt(turns: readonly SaidTurn[], maximumCharacters: number): string {
  const said = turns
    .filter(({ speaker }) => speaker === "person" || speaker === "assistant")
    .map(({ speaker, text }) => JSON.stringify({ speaker, text: text.slice(0, MOST_OF_A_TURN).toWellFormed() }));
  if (said.length === 0) return "";
  const beginning = fitting(said, maximumCharacters * BEGINNING);
  const used = beginning.reduce((sum, line) => sum + line.length + 2, 0);
  const end = fitting(said.slice(beginning.length).toReversed(), maximumCharacters - used).toReversed();
  const isWhole = beginning.length + end.length === said.length;
  return `[${[...beginning, ...(isWhole ? [] : ['"…"']), ...end].join(",\n")}]`;
}

function fitting(lines: readonly string[], room: number): string[] {
  let used = 0;
  const behind = lines.findIndex((line) => (used += line.length + 2) > room);
  return lines.slice(0, behind < 0 ? lines.length : behind);
}

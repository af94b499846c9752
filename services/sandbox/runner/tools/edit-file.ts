import { inTurn } from "../in-turn.ts";
import { replaceFile } from "../replace-file.ts";
import { readTextFile } from "../text-file.ts";
import { ToolFailure, type ToolAnswer, type ToolContext } from "../tool.ts";
import { unifiedDiff } from "../unified-diff.ts";

const SHOWN_DIFF_CHARACTERS = 30_000;
const SHOWN_PLACES = 10;

export interface EditFileArguments {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean;
}

export function editFile(given: EditFileArguments, context: ToolContext): Promise<ToolAnswer> {
  return inTurn(given.path, () => edit(given, context));
}

async function edit(given: EditFileArguments, context: ToolContext): Promise<ToolAnswer> {
  const { text } = await readTextFile(given.path);
  const { places, edited } = editedText(text, given);
  await replaceFile(given.path, edited, context);
  const diff = unifiedDiff(given.path, text, places, given.old_text, given.new_text);
  const isLong = diff.length > SHOWN_DIFF_CHARACTERS;
  return {
    content: isLong ? `${diff.slice(0, SHOWN_DIFF_CHARACTERS)}\n[… the rest of the diff is left out; the edit is made]` : diff,
    summary: places.length === 1 ? "1 place changed" : `${places.length} places changed`,
    resultBytes: Buffer.byteLength(diff),
    truncated: isLong,
  };
}

/** What an edit makes of a file's text, and where. @throws ToolFailure `no_match`, `invalid_arguments` */
export function editedText(text: string, given: EditFileArguments): { readonly places: readonly number[]; readonly edited: string } {
  const places = placesOf(text, given.old_text);
  if (places.length === 0) throw new ToolFailure("no_match", notFound(text, given));
  if (places.length > 1 && given.replace_all !== true) throw new ToolFailure("no_match", ambiguous(text, places, given.path));
  if (given.old_text === given.new_text)
    throw new ToolFailure("invalid_arguments", "old_text and new_text are the same; there is nothing to change.");
  return { places, edited: text.split(given.old_text).join(given.new_text) };
}

/** Where it occurs, without overlap, as `split` and `join` replace it. */
function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

function ambiguous(text: string, places: readonly number[], path: string): string {
  const lines = places.slice(0, SHOWN_PLACES).map((place) => lineAt(text, place));
  const more = places.length > SHOWN_PLACES ? ", …" : "";
  return `old_text occurs ${places.length} times in ${path}, at lines ${lines.join(", ")}${more}. Give more of the text around the one you mean, or set replace_all.`;
}

function notFound(text: string, { path, old_text: wanted }: EditFileArguments): string {
  const nearest = nearestLine(text, wanted);
  const hint =
    nearest === undefined
      ? "Read the file again: it may have changed."
      : `The nearest is at line ${nearest.number}:\n${nearest.line}\nCompare indentation, spaces and line ends with read_file, and give the text exactly as it stands.`;
  return `old_text does not occur in ${path}. ${hint}`;
}

/** The line that differs from the first telling line of the wanted text only in blanks, else one that holds most of its words. */
function nearestLine(text: string, wanted: string): { number: number; line: string } | undefined {
  const first = wanted.split("\n").find((line) => line.trim() !== "");
  if (first === undefined) return undefined;
  const squeezed = first.replace(/\s+/g, "");
  const words = wordsOf(first);
  let best: { number: number; line: string; score: number } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const shared = [...wordsOf(line)].filter((word) => words.has(word)).length;
    const score = line.replace(/\s+/g, "") === squeezed ? Number.POSITIVE_INFINITY : shared / Math.max(words.size, 1);
    if (score > (best?.score ?? 0.5)) best = { number: index + 1, line: line.slice(0, 500), score };
  }
  return best;
}

function wordsOf(line: string): Set<string> {
  return new Set(line.match(/\w+/g) ?? []);
}

function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < place; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

import { diffWordsWithSpace, structuredPatch } from "diff";
import type { ChangedFile } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { shownCode } from "../../parts/shown-text.ts";

export interface DiffLine {
  /** Its number in the file before and after, where it is there. */
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly sign: " " | "+" | "-";
  readonly text: string;
  /** Its words, where another line stands in its place and both are alike. */
  readonly pieces?: readonly DiffPiece[];
}

export interface DiffPiece {
  readonly text: string;
  readonly isChanged: boolean;
}

export interface Hunk {
  readonly head: string;
  readonly lines: readonly DiffLine[];
}

export interface FileDiff {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  /** Why there are no lines; empty where there are. */
  readonly note: string;
}

const CONTEXT_LINES = 3;
const MOST_BYTES = 512 * 1024;
/** Of longer lines no words are compared: that takes long, and nobody reads them. */
const LONGEST_LINE = 400;

/** A changed file as lines of before and after, what cannot be seen in them shown as what it is. */
export function diffOf({ path, before, after }: ChangedFile): FileDiff {
  const name = shownCode(new TextDecoder().decode(path));
  const [old, fresh] = [before, after].map((content) => textOf(content?.bytes ?? new Uint8Array()));
  const none = { path: name, added: 0, removed: 0, hunks: [] };
  if (old === undefined || fresh === undefined) return { ...none, note: "Not text, or too large to be shown here." };
  const { hunks } = structuredPatch("", "", old, fresh, "", "", { context: CONTEXT_LINES });
  const views = hunks.map(({ oldStart, newStart, oldLines, newLines, lines }) => {
    let [from, to] = [oldStart, newStart];
    return {
      head: `${oldStart}–${oldStart + Math.max(0, oldLines - 1)} → ${newStart}–${newStart + Math.max(0, newLines - 1)}`,
      lines: withWords(
        lines
          .filter((line) => !line.startsWith("\\"))
          .map((line): DiffLine => {
            const sign = line[0] as DiffLine["sign"];
            const text = shownCode(line.slice(1));
            return { sign, text, before: sign === "+" ? undefined : from++, after: sign === "-" ? undefined : to++ };
          }),
      ),
    };
  });
  const count = (sign: string): number => views.reduce((sum, { lines }) => sum + lines.filter((line) => line.sign === sign).length, 0);
  const note =
    views.length > 0
      ? ""
      : before === undefined
        ? "A new, empty file."
        : after === undefined
          ? "An empty file was removed."
          : "Only its mode changed.";
  return { path: name, added: count("+"), removed: count("-"), hunks: views, note };
}

/** Marks what differs between lines that were removed and those that came in their place, one by one. */
function withWords(lines: DiffLine[]): DiffLine[] {
  const marked = [...lines];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]!.sign !== "-") continue;
    const removed = runOf(lines, at, "-");
    const added = runOf(lines, at + removed, "+");
    for (let pair = 0; pair < Math.min(removed, added); pair++) {
      const [one, other] = [at + pair, at + removed + pair];
      const [before, after] = wordsOf(lines[one]!.text, lines[other]!.text);
      if (before === undefined) continue;
      marked[one] = { ...lines[one]!, pieces: before };
      marked[other] = { ...lines[other]!, pieces: after };
    }
    at += removed + added - 1;
  }
  return marked;
}

function runOf(lines: readonly DiffLine[], from: number, sign: DiffLine["sign"]): number {
  let end = from;
  while (lines[end]?.sign === sign) end++;
  return end - from;
}

/** Nothing of lines that have less than half in common: there every word would be marked. */
function wordsOf(before: string, after: string): [DiffPiece[], DiffPiece[]] | [undefined, undefined] {
  if (before.length > LONGEST_LINE || after.length > LONGEST_LINE) return [undefined, undefined];
  const changes = diffWordsWithSpace(before, after);
  const common = changes.reduce((sum, { added, removed, value }) => (added || removed ? sum : sum + value.trim().length), 0);
  if (common * 2 < Math.max(before.trim().length, after.trim().length)) return [undefined, undefined];
  const side = (left: "added" | "removed"): DiffPiece[] =>
    changes.filter((change) => !change[left]).map(({ value, added, removed }) => ({ text: value, isChanged: added || removed }));
  return [side("added"), side("removed")];
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > MOST_BYTES || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

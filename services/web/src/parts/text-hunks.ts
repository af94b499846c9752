import { diffWordsWithSpace, structuredPatch, type StructuredPatchHunk } from "diff";
import { shownCode } from "./shown-text.ts";

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

/** Texts that differ by more are shown as replaced: to compare them would take minutes. */
const COMPARISON = { context: 3, maxEditLength: 2_000, timeout: 500 };
/** Of longer lines no words are compared: that takes long, and nobody reads them. */
const LONGEST_LINE = 400;

/** What differs between two texts as lines of before and after, what cannot be seen in them shown as what it is. */
export function textHunks(old: string, fresh: string): Hunk[] {
  const hunks = structuredPatch("", "", old, fresh, "", "", COMPARISON)?.hunks ?? [replaced(old, fresh)];
  return hunks.map(({ oldStart, newStart, oldLines, newLines, lines }) => {
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
}

function replaced(old: string, fresh: string): StructuredPatchHunk {
  const [before, after] = [old, fresh].map((text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n")));
  return {
    oldStart: 1,
    newStart: 1,
    oldLines: before!.length,
    newLines: after!.length,
    lines: [...before!.map((line) => `-${line}`), ...after!.map((line) => `+${line}`)],
  };
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

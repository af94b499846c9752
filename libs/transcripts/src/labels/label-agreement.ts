import type { SessionLabels } from "./session-labels.ts";

/** How far two models agree on sessions, field by field: from 0 to 1, where 1 is the same. */
export interface LabelAgreement {
  readonly sessions: number;
  readonly label: number;
  readonly summary: number;
  readonly status: number;
  readonly decisions: number;
  readonly openQuestions: number;
  readonly entities: number;
}

export const AGREEMENT_FIELDS = ["label", "summary", "status", "decisions", "openQuestions", "entities"] as const;
/** Words that a text has whatever it says. */
const EMPTY_WORDS = new Set("a an and are as at be by for from in is it of on or that the this to was were with".split(" "));

/**
 * The mean over sessions: a status is the same or not; texts share words (Dice); lists are paired, each item with the one that shares
 * most words with it; names are shared or not (Dice).
 */
export function labelAgreement(pairs: readonly (readonly [SessionLabels, SessionLabels])[]): LabelAgreement {
  const mean = (of: (one: SessionLabels, other: SessionLabels) => number): number =>
    pairs.length === 0 ? 0 : pairs.reduce((sum, [one, other]) => sum + of(one, other), 0) / pairs.length;
  return {
    sessions: pairs.length,
    label: mean((one, other) => sharedWords(one.label, other.label)),
    summary: mean((one, other) => sharedWords(one.summary, other.summary)),
    status: mean((one, other) => (one.status === other.status ? 1 : 0)),
    decisions: mean((one, other) => sharedItems(one.decisions, other.decisions)),
    openQuestions: mean((one, other) => sharedItems(one.openQuestions, other.openQuestions)),
    entities: mean((one, other) => dice(new Set(one.entities.map(folded)), new Set(other.entities.map(folded)))),
  };
}

function sharedWords(one: string, other: string): number {
  return dice(wordsOf(one), wordsOf(other));
}

/** Each item counts once, the best pairs first. */
function sharedItems(ones: readonly string[], others: readonly string[]): number {
  if (ones.length + others.length === 0) return 1;
  const pairs = ones.flatMap((one, at) => others.map((other, place) => ({ at, place, shared: sharedWords(one, other) })));
  const [usedOnes, usedOthers] = [new Set<number>(), new Set<number>()];
  let sum = 0;
  for (const { at, place, shared } of pairs.sort((a, b) => b.shared - a.shared || a.at - b.at || a.place - b.place)) {
    if (usedOnes.has(at) || usedOthers.has(place)) continue;
    usedOnes.add(at);
    usedOthers.add(place);
    sum += shared;
  }
  return (2 * sum) / (ones.length + others.length);
}

function dice(ones: ReadonlySet<string>, others: ReadonlySet<string>): number {
  if (ones.size + others.size === 0) return 1;
  return (2 * [...ones].filter((one) => others.has(one)).length) / (ones.size + others.size);
}

function wordsOf(text: string): Set<string> {
  return new Set(
    folded(text)
      .match(/[\p{L}\p{N}]+/gu)
      ?.filter((word) => !EMPTY_WORDS.has(word)) ?? [],
  );
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

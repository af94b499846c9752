import type { FoundFact, ScoreParts } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { table } from "../output/table.ts";

/** What is added up. Left out where it gave nothing to any of the facts, as what they mean does without a model of embeddings. */
const ADDED: readonly (readonly [title: string, of: (parts: ScoreParts) => number])[] = [
  ["WORDS", ({ terms }) => terms.reduce((sum, term) => sum + term.score, 0)],
  ["BESIDE", ({ neighbours }) => neighbours],
  ["SESSION", ({ container }) => container],
  ["WHO", ({ actor }) => actor],
  ["WHEN", ({ date }) => date],
  ["MEANS", ({ similarity }) => similarity],
];

/** Why each fact was found: the sum of words to means, times said by, times age, is the score; covers is what recall's gate looks at. */
export function explainedTable(facts: readonly FoundFact[]): string {
  const explained = facts.flatMap(({ fact, score, parts }) => (fact === undefined || parts === undefined ? [] : [{ fact, score, parts }]));
  const added = ADDED.filter(([, of]) => explained.some(({ parts }) => of(parts) !== 0));
  const heads = ["SCORE", ...added.map(([title]) => title), "SAID BY", "AGE", "COVERS", "BY WORD", "TEXT"];
  const rows = explained.map(({ fact, score, parts }) => {
    const { terms, provenance, tieBreak, coverage, gate } = parts;
    return [
      score.toFixed(2),
      ...added.map(([, of]) => of(parts).toFixed(2)),
      ...[provenance, tieBreak].map((factor) => `×${factor.toFixed(2)}`),
      `${coverage.toFixed(2)} ${coverage >= gate ? "≥" : "<"} ${gate.toFixed(2)}`,
      terms.map((term) => `${term.term} ${term.score.toFixed(2)}`).join(" "),
      fact.text,
    ];
  });
  return table(heads, rows);
}

const COMMON = new Set(
  (
    "about after again all also and any anything are area ask back been before being below both but call called can cannot code codebase come could did " +
    "directory does doing done each else everything explain describe file files find first folder for from function get give goes had has have here how " +
    "into its just know like line lines look made make many may mean more most much must need not now off once one only other our out over overview " +
    "memory package please project read recall remember repo repository same say see shall should show some something such summarise summarize tell than that the their them " +
    "then there these they thing things this those through too use used uses using very want was well were what when where whether which while who " +
    "whole why will with word work works workspace would write you your"
  ).split(" "),
);
const SHORTEST = 3;

/** The words of a question that carry its meaning, longest first. */
export function wordsOf(question: string): string[] {
  const words = question.match(/[\p{L}\p{N}_-]+/gu) ?? [];
  const telling = words.filter((word) => word.length >= SHORTEST && !COMMON.has(word.toLowerCase()));
  return [...new Set(telling)].sort((one, other) => other.length - one.length);
}

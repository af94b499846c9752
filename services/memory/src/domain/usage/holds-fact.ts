import { termsOf } from "../search/terms.ts";

/** Of what a fact says beyond the question, what two neighbouring sentences of the answer have to hold. */
const MINIMUM_SHARE = 0.6;
/** One word in common is chance. */
const MINIMUM_TERMS = 2;
const SENTENCE_END = /(?<=[.!?:;])\s+|\n+/u;
const NEGATION = /\b(?:not|never|no|none|without|cannot|\w+n['’]t)\b/iu;
const HAS_DIGIT = /\p{N}/u;
/** Of a fact's id, what a model cites it by at least. */
const CITED_CHARACTERS = 8;

/** An answer, cut into what is compared with facts. */
export interface AnswerText {
  readonly text: string;
  readonly windows: readonly { readonly terms: ReadonlySet<string>; readonly isNegated: boolean }[];
  readonly asked: ReadonlySet<string>;
}

/** @param question what is repeated of it does not come from a fact */
export function answerText(answer: string, question: string): AnswerText {
  const sentences = answer.split(SENTENCE_END).filter((sentence) => sentence.trim() !== "");
  const windows = sentences.map((sentence, index) => {
    const text = `${sentence} ${sentences[index + 1] ?? ""}`;
    return { terms: new Set(termsOf(text)), isNegated: NEGATION.test(text) };
  });
  return { text: answer.toLowerCase(), windows, asked: new Set(termsOf(question)) };
}

/** Whether an answer cites a fact by its id. */
export function citesFact({ text }: AnswerText, factId: string): boolean {
  return text.includes(factId.slice(0, CITED_CHARACTERS));
}

/**
 * Whether an answer says again what a fact says, as far as words tell: most of the words that the question does not have, all of
 * its numbers, in two neighbouring sentences, and denied as the fact denies. A fact that the question holds whole tells nothing.
 */
export function restatesFact({ windows, asked }: AnswerText, fact: string, minimumShare = MINIMUM_SHARE): boolean {
  const terms = [...new Set(termsOf(fact))].filter((term) => !asked.has(term));
  if (terms.length === 0) return false;
  const numbers = terms.filter((term) => HAS_DIGIT.test(term));
  const isNegated = NEGATION.test(fact);
  const needed = Math.max(Math.min(MINIMUM_TERMS, terms.length), Math.ceil(terms.length * minimumShare));
  return windows.some(
    (window) =>
      (!isNegated || window.isNegated) &&
      numbers.every((number) => window.terms.has(number)) &&
      terms.filter((term) => window.terms.has(term)).length >= needed,
  );
}

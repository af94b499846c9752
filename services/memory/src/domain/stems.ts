import { stemmer } from "stemmer";

const MAXIMUM_WORD_CHARACTERS = 64;
const WORD = /[\p{L}\p{N}]+/gu;
/** Words that say nothing about what a text is about; questions are full of them. */
const STOP_WORDS = new Set(
  (
    "a about after all also am an and any are as at be because been before being but by can could did do does doing done for from " +
    "had has have having he her here hers him his how i if in into is it its just let me may might more most must my no nor not of " +
    "on or our ours please shall she should so some such than that the their theirs them then there these they this those to too " +
    "us very was we were what when where which while who whom whose why will with would you your yours"
  ).split(" "),
);

/**
 * The content words of a text in order, each cut down to its stem (Porter). Facts and queries pass through the same
 * function: what is stored, indexed and asked for are these.
 */
export function stemsOf(text: string): string[] {
  const words = text.normalize("NFKC").toLowerCase().match(WORD) ?? [];
  return words.filter((word) => word.length <= MAXIMUM_WORD_CHARACTERS && !STOP_WORDS.has(word)).map((word) => stemmer(word));
}

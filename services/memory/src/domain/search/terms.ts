import { stemmer } from "stemmer";

/** Counts up whenever texts are cut in another way: what was cut before is cut again. */
export const TERMS_VERSION = 1;
const MAXIMUM_WORD_CHARACTERS = 64;
/** Words, and identifiers and paths as wholes. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:[._/:\\-]+[\p{L}\p{M}\p{N}]+)*/gu;
const STEPS = /[/:\\]+/u;
const PARTS = /[._-]+|(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]+/gu;
const IN_PAIRS = /[\p{Script=Han}]+|[\p{Script=Hangul}]+/gu;
const ACCENTS = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]\p{M}*)\p{M}/gu;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
/** Words that say nothing about what a text is about; questions are full of them. */
const STOP_WORDS = new Set(
  (
    "a about after all also am an and any are as at be because been before being but by can could did do does doing done for from " +
    "had has have having he her here hers him his how i if in into is it its just let me may might more most must my no nor not of " +
    "on or our ours please shall she should so some such than that the their theirs them then there these they this those to too " +
    "us very was we were what when where which while who whom whose why will with would you your yours " +
    // What an apostrophe leaves of words.
    "s t d ll m re ve don didn doesn isn wasn aren weren couldn wouldn shouldn hasn haven hadn won"
  ).split(" "),
);

/**
 * The terms of a text in order: stems of words (Porter), without their accents and with them; identifiers whole and in their parts;
 * words and pairs of characters where a script has no blanks. Texts and questions pass through the same function.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const [whole] of text.normalize("NFKC").matchAll(WORD)) {
    const names = whole.split(STEPS).filter((name) => name !== "");
    for (const name of names) {
      const parts = name.split(PARTS).filter((part) => part !== "");
      for (const part of parts) terms.push(...wordTerms(part));
      // However it is written: userName, user_name and user-name are one.
      if (parts.length > 1) terms.push(...wholeTerm(parts));
    }
    if (names.length > 1) terms.push(...wholeTerm(names));
  }
  return terms;
}

function wholeTerm(parts: readonly string[]): string[] {
  const whole = foldAccents(parts.join("").toLowerCase());
  return whole.length <= MAXIMUM_WORD_CHARACTERS ? [whole] : [];
}

function wordTerms(word: string): string[] {
  const lower = word.toLowerCase();
  const terms: string[] = [];
  for (const [run] of lower.matchAll(UNSPACED)) terms.push(...unspacedTerms(run));
  for (const spaced of lower.split(UNSPACED)) {
    if (spaced === "" || spaced.length > MAXIMUM_WORD_CHARACTERS || STOP_WORDS.has(spaced)) continue;
    const folded = foldAccents(spaced);
    terms.push(stemmer(folded));
    if (folded !== spaced) terms.push(spaced);
  }
  return terms;
}

export function foldAccents(text: string): string {
  return text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
}

function unspacedTerms(run: string): string[] {
  const words = [...segmenter.segment(run)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
  const terms = words.filter((word) => word.length <= MAXIMUM_WORD_CHARACTERS && !/^\p{Script=Hiragana}$/u.test(word));
  for (const [dense] of run.matchAll(IN_PAIRS)) {
    const characters = [...dense];
    for (let at = 0; at + 1 < characters.length; at++) terms.push(characters[at]! + characters[at + 1]!);
    if (/\p{Script=Han}/u.test(dense)) terms.push(...characters);
  }
  return [...new Set(terms)];
}

import { createHash } from "node:crypto";

/** Where a phrase begins that may stand anywhere in its sentence. */
const PREPOSITION = /^(?:on|in|at|for|with|by|since|during|from|to|via|using|over|under|of)$/;
/** What a sentence begins with after a phrase that was put first. */
const SUBJECT = /^(?:we|i|you|they|he|she|it|our|my|your|their|his|her|its|the|this|that|these|those|all|every|each)$/;
/** What says something of one part of its sentence, so that no part may be moved. */
const BOUND =
  /^(?:no|not|never|only|just|except|but|without|unless|neither|nor|rather|instead|than|before|after|until|if|when|while|then|and|or|always|even|mostly|usually|cannot|who|which|where|because|so)$|n't$|^(?:isnt|dont|doesnt|wont|cant)$/;
const DETERMINED = /^(?:the|our|my|your|their|his|her|its|this)$/;

/**
 * One key for texts that say the same: case, blanks, punctuation, short forms, and the order of phrases do not count, nor which side of
 * "is" the description stands on; numbers, negations and who does what to whom do. 64 hex digits.
 */
export function textKeyOf(text: string): string {
  return hashOf(normalForm(text));
}

/** As the key was made before phrases could move: what was written then has it. */
export function plainTextKeyOf(text: string): string {
  const normalized = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/[.!;,]+$/u, "");
  return hashOf(normalized);
}

/** The name of a slot, or an empty text where subject or predicate is missing. */
export function slotOf(subject: string, predicate: string): string {
  const parts = [subject, predicate].map((part) => part.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim());
  if (parts.includes("")) return "";
  return hashOf(JSON.stringify(parts));
}

function normalForm(text: string): string {
  const words = wordsOf(text);
  if (words.length > 40 || words.some(({ word }) => BOUND.test(word))) return words.map(({ word }) => word).join(" ");
  return JSON.stringify(withoutFront(turned(words)));
}

interface Word {
  readonly word: string;
  readonly endsPhrase: boolean;
}

/** Words without the punctuation around them; `c++`, `v1.2` and `user@host` stay whole. */
function wordsOf(text: string): Word[] {
  const spaced = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[‘’]/gu, "'")
    .replace(/\b(ca|wo)n't\b/gu, (_, stem: string) => (stem === "ca" ? "can not" : "will not"))
    .replace(/\bcannot\b/gu, "can not")
    .replace(/(?<=\w)n't\b/gu, " not")
    .replace(/\b(we|they|you)'re\b/gu, "$1 are")
    .replace(/\bi'm\b/gu, "i am")
    .replace(/\b(it|he|she|that|there)'s\b/gu, "$1 is");
  return spaced.split(/\s+/u).flatMap((raw) => {
    const word = raw.replace(/^["'`“”„«»([{¿¡]+|["'`“”„«»)\]}.,;:!?…。？！，]+$/gu, "");
    return word === "" ? [] : [{ word, endsPhrase: /[,;:]["'”»)\]]*$/u.test(raw) }];
  });
}

/** "Main is the default branch" is "the default branch is main". */
function turned(words: readonly Word[]): readonly Word[] {
  const verbs = words.flatMap(({ word }, at) => (word === "is" || word === "are" ? [at] : []));
  const [at] = verbs;
  if (verbs.length !== 1 || at === undefined) return words;
  const [left, right] = [words.slice(0, at), words.slice(at + 1)];
  const isTurned =
    left.length > 0 &&
    right.length > 1 &&
    DETERMINED.test(right[0]!.word) &&
    !left.some(({ word }) => DETERMINED.test(word) || PREPOSITION.test(word));
  return isTurned ? [...right, words[at]!, ...left] : words;
}

/** The sentence up to its first phrase, then its phrases in an order that does not depend on theirs. */
function withoutFront(words: readonly Word[]): string[] {
  const chunks: string[][] = [[]];
  let isFront = false;
  for (const [at, { word }] of words.entries()) {
    const isAfterComma = at > 0 && words[at - 1]!.endsPhrase;
    const endsFront =
      isFront && (isAfterComma || (chunks.at(-1)!.length > 1 && SUBJECT.test(word) && !PREPOSITION.test(words[at - 1]!.word)));
    if (endsFront && !PREPOSITION.test(word)) {
      isFront = false;
      chunks[0]!.push(word);
      // What follows goes on with the sentence.
      chunks.push(chunks[0]!);
    } else if (PREPOSITION.test(word)) {
      if (at === 0) isFront = true;
      chunks.push([word]);
    } else chunks.at(-1)!.push(word);
  }
  const [head, ...phrases] = [...new Set(chunks)];
  return [head!.join(" "), ...phrases.map((phrase) => phrase.join(" ")).sort()];
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

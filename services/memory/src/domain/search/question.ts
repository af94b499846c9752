import { actorTerms, askedDateTerms } from "./field-terms.ts";
import { termsOf } from "./terms.ts";

/** More terms than a question has; a pasted page is asked for by its first words. */
const MAXIMUM_TERMS = 32;
const MAXIMUM_NAMES = 64;

export interface Question {
  /** Of its words, without those of the names. */
  readonly terms: readonly string[];
  /** Of whom it names, among those who said something here. */
  readonly actors: readonly string[];
  readonly dates: readonly string[];
}

/** Whom it may name, before it is known who said something. */
export function possibleActors(question: string): string[] {
  return actorTerms(question).slice(0, MAXIMUM_NAMES);
}

/** @param actors those of `possibleActors` that are known here; a name says who spoke, and leaves the words */
export function questionOf(text: string, actors: readonly string[]): Question {
  const all = [...new Set(termsOf(text))];
  const names = new Set(actors.flatMap((actor) => termsOf(actor.slice(1))));
  const words = all.filter((term) => !names.has(term));
  return { terms: (words.length === 0 ? all : words).slice(0, MAXIMUM_TERMS), actors, dates: askedDateTerms(text) };
}

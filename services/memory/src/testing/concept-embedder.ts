import type { Embedder } from "../domain/search/embedder.ts";

/** Words that mean the same, by the dimension that they point to. */
const CONCEPTS = [
  ["car", "automobile", "vehicle"],
  ["doctor", "physician", "clinic"],
  ["purchase", "buy", "bought"],
  ["holiday", "vacation", "beach"],
  ["rain", "storm", "weather"],
  ["cook", "recipe", "kitchen"],
  ["music", "guitar", "song"],
  ["dog", "puppy", "hound"],
];

/** A model whose every word is known: texts that hold words of one concept point the same way, and all others into none of these. */
export class ConceptEmbedder implements Embedder {
  readonly model: string;
  /** What it was asked for, in order. */
  readonly asked: string[] = [];
  /** Thrown in place of an answer, as long as it gives an error. */
  fails: (texts: readonly string[]) => Error | undefined = () => undefined;

  constructor(model = "concepts") {
    this.model = model;
  }

  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    this.asked.push(...texts);
    const failure = this.fails(texts);
    return failure === undefined ? Promise.resolve(texts.map(vectorOf)) : Promise.reject(failure);
  }
}

function vectorOf(text: string): number[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const concepts = CONCEPTS.map((concept) => words.filter((word) => concept.includes(word)).length * 4 - 1);
  // The rest tells texts apart that are of no concept, by a hash of their letters.
  const rest = Array.from({ length: 8 }, (_empty, at) =>
    Math.sin([...text].reduce((sum, sign) => sum * 31 + sign.codePointAt(0)! + at, 7) % 1_000),
  );
  return [...concepts.flatMap((value) => Array<number>(8).fill(value)), ...rest.map((value) => value / 4)];
}

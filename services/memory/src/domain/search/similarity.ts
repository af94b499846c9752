import { cosine } from "./quantized-vector.ts";
import { WEIGHTS } from "./weights.ts";

export interface Compared {
  /** Undefined where it has none yet. */
  readonly vector: Int8Array | undefined;
  /** In words. */
  readonly length: number;
}

/**
 * What each text's meaning adds to its score. Models differ in how near everything is to everything, so a cosine counts by how far it stands
 * out among these, in standard deviations; a text without a vector stands where their average does. Short texts are near to whatever is
 * asked, which their length makes up for.
 */
export function similarities(question: Int8Array, texts: readonly Compared[]): number[] {
  const cosines = texts.map(({ vector }) => vector && cosine(question, vector));
  const known = cosines.filter((value) => value !== undefined);
  const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  const deviation = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, known.length));
  if (deviation === 0) return texts.map(() => 0);
  const { weight, length: ofLength } = WEIGHTS.similarity;
  return texts.map(({ length }, at) => (weight * ((cosines[at] ?? mean) - mean)) / deviation + ofLength * Math.log(Math.max(1, length)));
}

const LARGEST = 127;

/** A vector as it is kept: a byte a dimension finds the same as four do. */
export interface QuantizedVector {
  readonly values: Int8Array;
  /** `1` for each dimension that is positive, else `0`. */
  readonly signs: string;
}

export function quantize(vector: readonly number[]): QuantizedVector {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return {
    values: Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((value / largest) * LARGEST))),
    signs: vector.map((value) => (value > 0 ? "1" : "0")).join(""),
  };
}

/** -1 to 1; undefined where they are of different lengths or one has none. */
export function cosine(a: Int8Array, b: Int8Array): number | undefined {
  if (a.length !== b.length) return undefined;
  let [product, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    product += a[at]! * b[at]!;
    ofA += a[at]! ** 2;
    ofB += b[at]! ** 2;
  }
  return ofA === 0 || ofB === 0 ? undefined : product / Math.sqrt(ofA * ofB);
}

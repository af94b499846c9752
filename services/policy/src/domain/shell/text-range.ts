/** A stretch of a text, in UTF-16 units; the end is not included. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

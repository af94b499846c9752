import type { Usage } from "../generation.ts";

/** A token that is written costs a server more than one that it reads, and one from its cache next to nothing. */
const WRITTEN = 2;
const CACHED = 0.1;

/** What an answer counts in its client's share. */
export function weightedTokens({ input, cacheRead, cacheWrite, output }: Usage): number {
  return input + cacheWrite + CACHED * cacheRead + WRITTEN * output;
}

/** What a piece of an answer counts while nobody knows its tokens: a token or so. */
export const WEIGHT_OF_PIECE = WRITTEN;

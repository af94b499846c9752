import type { Delta } from "../domain/generation.ts";

/** A text in pieces of a few words, as a model would send it. */
export function* textDeltas(text: string): Generator<Delta> {
  for (const [piece] of text.matchAll(/(?:\S+\s*|\s+){1,8}/g)) yield { kind: "text", text: piece };
}

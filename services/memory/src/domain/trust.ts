import type { Fact, FactOrigin } from "./fact.ts";

/** By origin; more is more to be trusted. */
export const TRUST: Readonly<Record<FactOrigin, number>> = { "system-generated": 0, "model-inferred": 1, "user-stated": 2 };

/** What a person pinned or accepted is as good as what they stated, wherever it comes from. */
export function trustOf(fact: Pick<Fact, "origin" | "pinned" | "validatedAt">): number {
  return fact.pinned || fact.validatedAt !== undefined ? TRUST["user-stated"] : TRUST[fact.origin];
}

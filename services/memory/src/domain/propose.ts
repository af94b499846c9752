import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Fact, NewFact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { keysOf, stemsOfFact } from "./place-fact.ts";
import type { Viewer } from "./viewer.ts";

/** What one person's runs may have waiting in one audience's inbox: more nobody reads. */
const MAXIMUM_WAITING = 200;

export interface Proposed {
  readonly fact: Fact;
  readonly isNew: boolean;
}

/**
 * Puts into the inbox what may not be done at once: to write a fact, to put it in another's place, or to end that. The audience is
 * locked already.
 * @throws HlvmError `inbox_full`
 */
export async function propose(
  facts: ScopedFacts,
  viewer: Viewer,
  draft: NewFact,
  { of, ends }: { readonly of: Fact | undefined; readonly ends: boolean },
): Promise<Proposed> {
  const keys = keysOf(viewer, draft);
  const proposal = { of: of?.id ?? "", ends };
  const same = await facts.proposals.same(keys, proposal);
  if (same !== undefined) return { fact: same, isNew: false };
  if ((await facts.proposals.countOwn(keys.audience, MAXIMUM_WAITING)) >= MAXIMUM_WAITING)
    throw new HlvmError({
      code: "resource_exhausted",
      reason: "inbox_full",
      message: `${MAXIMUM_WAITING} proposals wait already to be decided.`,
      advice: "Decide them first: hlvm memory inbox list.",
    });
  const id = randomUUID();
  const fact = await facts.insert({ ...draft, ...keys, id, pinned: false, stems: stemsOfFact(draft), proposal });
  facts.history.record("proposed", id);
  return { fact, isNew: true };
}

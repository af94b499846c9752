import { randomUUID } from "node:crypto";
import { audienceOf } from "./audience.ts";
import { plainTextKeyOf, slotOf, textKeyOf } from "./fact-keys.ts";
import type { Fact, NewFact } from "./fact.ts";
import type { ScopedFacts, TextKey } from "./fact-store.ts";
import { termsOf } from "./search/terms.ts";
import { TRUST, trustOf } from "./trust.ts";
import type { Viewer } from "./viewer.ts";

export interface FactKeys {
  readonly audience: string;
  readonly slot: string;
  readonly textKey: string;
}

/** Where a fact would stand. */
export interface Place extends FactKeys {
  /** The fact that says the same already, at least as trusted. */
  readonly known: Fact | undefined;
  /** What would be superseded. */
  readonly taken: readonly Fact[];
}

export function keysOf(viewer: Viewer, draft: NewFact): FactKeys {
  return {
    audience: audienceOf(viewer.organization, { ...draft, owner: viewer.principal }),
    slot: slotOf(draft.subject, draft.predicate),
    textKey: textKeyOf(draft.text),
  };
}

/** Where the same may stand already: in its slot, and in none, from before it was known of what it is. */
export function sameTexts(viewer: Viewer, draft: NewFact): TextKey[] {
  const { audience, slot, textKey } = keysOf(viewer, draft);
  return [...new Set([slot, ""])].flatMap((where) =>
    [textKey, plainTextKeyOf(draft.text)].map((key) => ({ audience, slot: where, textKey: key })),
  );
}

/** Finds a fact's place; nobody else writes for its audience until the transaction ends. */
export async function placeOf(facts: ScopedFacts, viewer: Viewer, draft: NewFact, corrected: Fact | undefined): Promise<Place> {
  const keys = keysOf(viewer, draft);
  const { audience, slot, textKey } = keys;
  await facts.lock(audience);
  const keysOfText = [textKey, plainTextKeyOf(draft.text)];
  const same = await facts.sameText(audience, slot, keysOfText);
  // The same, from before it was known of what it is: it gets its slot, unless it is more to be trusted.
  const unplaced = slot === "" || same !== undefined ? undefined : await facts.sameText(audience, "", keysOfText);
  const isKnown =
    (same !== undefined && same.id !== corrected?.id && TRUST[same.origin] >= TRUST[draft.origin]) ||
    (unplaced !== undefined && unplaced.id !== corrected?.id && trustOf(unplaced) > TRUST[draft.origin]);
  const known = isKnown ? (same ?? unplaced) : undefined;
  const inSlot = slot === "" ? undefined : await facts.inSlot(audience, slot);
  const there = [same, unplaced, corrected, inSlot].filter((fact) => fact !== undefined && fact.id !== known?.id) as Fact[];
  return { ...keys, known, taken: [...new Map(there.map((fact) => [fact.id, fact])).values()] };
}

/** Puts a fact into its place: what it takes the place of is superseded, stays in the history, and leaves it its pin. */
export async function placeFact(
  facts: ScopedFacts,
  draft: NewFact,
  { known, taken, ...keys }: Place,
): Promise<{ readonly fact: Fact; readonly superseded: readonly Fact[]; readonly isPinned: boolean }> {
  const id = known?.id ?? randomUUID();
  const pinned = draft.pinned || taken.some((old) => old.pinned);
  const superseded: Fact[] = [];
  for (const old of taken) superseded.push(await facts.end(old.id, id));
  if (known === undefined)
    return {
      fact: await facts.insert({ ...draft, ...keys, id, pinned, proposal: undefined, stems: stemsOfFact(draft) }),
      superseded,
      isPinned: pinned,
    };
  const isPinned = pinned && !known.pinned;
  return { fact: isPinned ? await facts.setPinned(id, true) : known, superseded, isPinned };
}

export function stemsOfFact(draft: NewFact): string[] {
  return termsOf([draft.text, draft.subject, draft.predicate, draft.category, ...draft.tags].join(" "));
}

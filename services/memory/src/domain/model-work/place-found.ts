import { HlvmError } from "@hlvm/errors/hlvm-error";
import { slotOf } from "../fact-keys.ts";
import type { Fact } from "../fact.ts";
import { propose } from "../propose.ts";
import { TRUST } from "../trust.ts";
import type { Viewer } from "../viewer.ts";
import type { ClaimedItem, PlacedFact } from "./model-work.ts";

/**
 * Notes what a model takes a fact to be about. That orders nothing: where another fact is about the same and says something else, the
 * later one is proposed in place of the earlier, and a person decides.
 */
export async function placeFound(
  item: ClaimedItem,
  viewer: Viewer,
  placed: PlacedFact,
  { subject, predicate, model }: { readonly subject: string; readonly predicate: string; readonly model: string },
): Promise<void> {
  const slot = slotOf(subject, predicate);
  await item.facts.lock(placed.audience);
  const other = slot === "" ? undefined : await item.otherInSlot(placed, slot);
  await item.putFoundSlot({ subject, predicate, slot }, model);
  if (other === undefined || other.textKey === placed.textKey) return;
  const [older, newer] = [placed.fact, other.fact].sort((one, two) => one.validFrom.getTime() - two.validFrom.getTime());
  try {
    await propose(item.facts, viewer, inferredFrom(newer!, { subject, predicate }), { of: older, ends: false });
  } catch (thrown) {
    // Who decides nothing is asked no more; what was found stays.
    if (!(thrown instanceof HlvmError) || thrown.reason !== "inbox_full") throw thrown;
  }
}

/** Whoever said the text, that it belongs there a model says. */
function inferredFrom(fact: Fact, slot: { readonly subject: string; readonly predicate: string }): Fact {
  const origin = TRUST[fact.origin] > TRUST["model-inferred"] ? "model-inferred" : fact.origin;
  return { ...fact, ...slot, origin, pinned: false, validatedAt: undefined };
}

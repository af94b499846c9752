import type { Fact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { demandTeamRight, validFact } from "./valid-fact.ts";
import type { Viewer } from "./viewer.ts";

/** @throws HlvmError `fact_not_found`, `fact_ended`, `team_fact_refused` */
export async function pinFact(facts: ScopedFacts, viewer: Viewer, id: string, pinned: boolean): Promise<Fact> {
  const fact = await validFact(facts, viewer, id);
  demandTeamRight(viewer, fact);
  if (fact.pinned === pinned) return fact;
  const changed = await facts.setPinned(id, pinned);
  facts.history.record(pinned ? "pinned" : "unpinned", id);
  return changed;
}

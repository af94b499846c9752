import type { Fact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { validFact } from "./valid-fact.ts";
import type { Viewer } from "./viewer.ts";

/**
 * The fact ends now, and stays in the history.
 * @throws HlvmError `fact_not_found`, `fact_ended`, `team_fact_refused`
 */
export async function removeFact(facts: ScopedFacts, viewer: Viewer, id: string): Promise<Fact> {
  await validFact(facts, viewer, id);
  const ended = await facts.end(id, "");
  await facts.history.record("ended", id);
  return ended;
}

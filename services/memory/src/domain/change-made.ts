import type { FactChange } from "./fact-change.ts";
import type { ScopedFacts } from "./fact-store.ts";

/** What has just been recorded, with all that it touched. */
export async function changeMade(facts: ScopedFacts, changeId: string): Promise<FactChange> {
  return (await facts.history.find(changeId))!;
}

import type { Fact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { propose } from "./propose.ts";
import { needsApproval } from "./put-fact.ts";
import type { Editor } from "./replace-fact.ts";
import { TRUST, trustOf } from "./trust.ts";
import { demandTeamRight, validFact } from "./valid-fact.ts";
import type { Viewer } from "./viewer.ts";

/**
 * The fact ends now, and stays in the history. Whoever is less to be trusted than the fact proposes it.
 * @returns the fact as it is then, or the proposal
 * @throws HlvmError `fact_not_found`, `fact_ended`, `team_fact_refused`, `inbox_full`
 */
export async function removeFact(facts: ScopedFacts, viewer: Viewer, id: string, editor: Editor): Promise<Fact> {
  const fact = await validFact(facts, viewer, id);
  const { scope } = fact;
  if (editor.origin === "user-stated") demandTeamRight(viewer, fact);
  if (trustOf(fact) > TRUST[editor.origin] || needsApproval(viewer, { scope, origin: editor.origin }))
    return (await propose(facts, viewer, { ...fact, ...editor, validatedAt: undefined }, { of: fact, ends: true })).fact;
  const ended = await facts.end(id, "");
  facts.history.record("ended", id);
  return ended;
}

import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audienceOf } from "./audience.ts";
import { changeMade } from "./change-made.ts";
import type { FactChange } from "./fact-change.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { demandTeamRight } from "./valid-fact.ts";
import type { Viewer } from "./viewer.ts";

/**
 * Makes everything what it was before a change, which has to be the last one of all that it touched. That is a change too, which
 * can be undone.
 * @throws HlvmError `fact_change_not_found`, `fact_changed_since`, `fact_slot_taken`, `team_fact_refused`
 */
export async function undoChange(facts: ScopedFacts, viewer: Viewer, changeId: string): Promise<FactChange> {
  const change = await facts.history.find(changeId);
  if (change === undefined)
    throw new HlvmError({
      code: "not_found",
      reason: "fact_change_not_found",
      message: `There is no change ${changeId} that you can see here.`,
      advice: "hlvm memory show FACT lists the changes of a fact.",
    });
  demandTeamRight(viewer, change.fact);
  await facts.lock(audienceOf(viewer.organization, change.fact));
  const latest = await facts.history.latestOf([change.fact, ...change.others].map(({ id }) => id));
  if (latest?.id !== changeId) throw changedSince(latest);
  const outcome = await facts.history.revert(changeId);
  if (outcome === "changed") throw changedSince(undefined);
  if (outcome === "taken")
    throw new HlvmError({
      code: "failed_precondition",
      reason: "fact_slot_taken",
      message: "Another fact says the same by now, or something else about the same subject and predicate. Nothing was undone.",
      advice: "End or edit that one, and undo this then.",
    });
  return changeMade(facts, facts.history.record("undone", change.fact.id, changeId));
}

function changedSince(latest: FactChange | undefined): HlvmError {
  const what = latest === undefined ? "" : `: ${latest.principal || "somebody"} made another change at ${latest.at.toISOString()}`;
  return new HlvmError({
    code: "failed_precondition",
    reason: "fact_changed_since",
    message: `What this change touched was changed again since${what}. Nothing was undone.`,
    advice: "Look at the fact's history, and undo the later change first.",
  });
}

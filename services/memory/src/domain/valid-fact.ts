import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audienceOf } from "./audience.ts";
import type { Fact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import type { Viewer } from "./viewer.ts";

/**
 * A fact that holds and that the viewer may change; until the transaction ends nobody else changes it.
 * @throws HlvmError `fact_not_found`, `fact_ended`, `team_fact_refused`
 */
export async function validFact(facts: ScopedFacts, viewer: Viewer, id: string): Promise<Fact> {
  const seen = await facts.find(id);
  if (seen !== undefined) await facts.lock(audienceOf(viewer.organization, seen));
  // Whoever had the lock may have changed it.
  const fact = seen === undefined ? undefined : await facts.find(id);
  if (fact === undefined) throw notFound(id);
  if (fact.validTo !== undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "fact_ended",
      message: fact.supersededBy === "" ? `Fact ${id} was removed.` : `Fact ${id} was replaced by fact ${fact.supersededBy}.`,
      advice: fact.supersededBy === "" ? "Write it anew." : "Edit the fact that replaced it.",
    });
  demandTeamRight(viewer, fact);
  return fact;
}

/** @throws HlvmError `team_fact_refused` */
export function demandTeamRight(viewer: Viewer, fact: Fact): void {
  if (fact.scope !== "team" || viewer.mayWriteTeamFacts) return;
  throw new HlvmError({
    code: "permission_denied",
    reason: "team_fact_refused",
    message: "What the whole organization sees is changed by approvers and administrators.",
    advice: "Ask an approver to change it.",
  });
}

/**
 * A fact that the viewer sees, whether it holds or not.
 * @throws HlvmError `fact_not_found`
 */
export async function seenFact(facts: ScopedFacts, id: string): Promise<Fact> {
  const fact = await facts.find(id);
  if (fact === undefined) throw notFound(id);
  return fact;
}

function notFound(id: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "fact_not_found",
    message: `There is no fact ${id} that you can see here.`,
    advice: "Search for it: a search gives every fact's id.",
  });
}

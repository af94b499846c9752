import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audienceOf } from "./audience.ts";
import type { Fact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import type { Viewer } from "./viewer.ts";

/**
 * A fact that holds; until the transaction ends nobody else changes it.
 * @throws HlvmError `fact_not_found`, `fact_ended`
 */
export async function validFact(facts: ScopedFacts, viewer: Viewer, id: string): Promise<Fact> {
  const fact = await lockedFact(facts, (seen) => audienceOf(viewer.organization, seen), id);
  if (fact === undefined) throw notFound(id);
  if (fact.proposal !== undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "fact_ended",
      message: `${id} is a proposal and no fact yet.`,
      advice: `hlvm memory inbox accept ${id} makes it one.`,
    });
  if (fact.validTo !== undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "fact_ended",
      message: fact.supersededBy === "" ? `Fact ${id} was removed.` : `Fact ${id} was replaced by fact ${fact.supersededBy}.`,
      advice: fact.supersededBy === "" ? "Write it anew." : "Edit the fact that replaced it.",
    });
  return fact;
}

/** A fact that nobody else changes until the transaction ends; undefined where the viewer sees none. */
export async function lockedFact(facts: ScopedFacts, audience: (fact: Fact) => string, id: string): Promise<Fact | undefined> {
  const seen = await facts.find(id);
  if (seen === undefined) return undefined;
  await facts.lock(audience(seen));
  // Whoever had the lock may have changed it.
  return facts.find(id);
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

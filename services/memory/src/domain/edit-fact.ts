import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Fact, FactOrigin } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { putFact, type PutFact } from "./put-fact.ts";
import type { Viewer } from "./viewer.ts";
import { factText } from "./write-fact.ts";

/** Who corrects a fact, and from where. */
export interface Editor {
  readonly origin: FactOrigin;
  /** Empty where no session does. */
  readonly sourceSessionId: string;
}

/**
 * Puts a corrected text in a fact's place; the old one stays in the history. The correction is trusted as far as the
 * one who makes it.
 * @throws HlvmError `fact_not_found`, `fact_ended`, `fact_empty`, `team_fact_refused`
 */
export async function replaceFact(facts: ScopedFacts, viewer: Viewer, id: string, text: string, editor: Editor): Promise<PutFact> {
  const old = await validFact(facts, viewer, id);
  return putFact(facts, viewer, { ...old, ...editor, text: factText(text) }, old);
}

/**
 * The fact ends now, and stays in the history.
 * @throws HlvmError `fact_not_found`, `fact_ended`, `team_fact_refused`
 */
export async function removeFact(facts: ScopedFacts, viewer: Viewer, id: string): Promise<Fact> {
  await validFact(facts, viewer, id);
  return facts.end(id, "");
}

/** @throws HlvmError `fact_not_found`, `fact_ended`, `team_fact_refused` */
export async function pinFact(facts: ScopedFacts, viewer: Viewer, id: string, pinned: boolean): Promise<Fact> {
  await validFact(facts, viewer, id);
  return facts.setPinned(id, pinned);
}

async function validFact(facts: ScopedFacts, viewer: Viewer, id: string): Promise<Fact> {
  const fact = await facts.find(id);
  if (fact === undefined)
    throw new HlvmError({
      code: "not_found",
      reason: "fact_not_found",
      message: `There is no fact ${id} that you can see here.`,
      advice: "Search for it: a search gives every fact's id.",
    });
  if (fact.validTo !== undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "fact_ended",
      message: fact.supersededBy === "" ? `Fact ${id} was removed.` : `Fact ${id} was replaced by fact ${fact.supersededBy}.`,
      advice: fact.supersededBy === "" ? "Write it anew." : "Edit the fact that replaced it.",
    });
  if (fact.scope === "team" && !viewer.mayWriteTeamFacts)
    throw new HlvmError({
      code: "permission_denied",
      reason: "team_fact_refused",
      message: "What the whole organization sees is changed by approvers and administrators.",
      advice: "Ask an approver to change it.",
    });
  return fact;
}

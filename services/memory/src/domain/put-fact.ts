import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Fact, NewFact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { placeFact, placeOf } from "./place-fact.ts";
import { propose } from "./propose.ts";
import { TRUST, trustOf } from "./trust.ts";
import type { Viewer } from "./viewer.ts";

export interface PutFact {
  /** A proposal where something more to be trusted stands there, or where others have to agree. */
  readonly fact: Fact;
  /** False where the same was known or proposed already. */
  readonly isNew: boolean;
  readonly superseded: readonly Fact[];
}

/**
 * Puts a fact into its slot: what held there is superseded and stays in the history. The same text again adds nothing,
 * unless it now comes from somebody more to be trusted. What is less to be trusted than that which holds becomes a proposal, and so
 * does what the whole organization would see where no approver states it.
 * @throws HlvmError `project_missing`, `inbox_full`
 */
export async function putFact(facts: ScopedFacts, viewer: Viewer, draft: NewFact, corrected?: Fact): Promise<PutFact> {
  if (draft.scope === "project" && draft.project === "") throw projectMissing();
  const place = await placeOf(facts, viewer, draft, corrected);
  const stronger = place.taken.find((old) => trustOf(old) > TRUST[draft.origin]);
  const isNothingNew = place.known !== undefined && place.taken.length === 0;
  if (stronger !== undefined || (needsApproval(viewer, draft) && !isNothingNew)) {
    const of = stronger ?? corrected ?? place.taken[0];
    return { ...(await propose(facts, viewer, draft, { of, ends: false })), superseded: [] };
  }
  const { fact, superseded, isPinned } = await placeFact(facts, draft, place);
  const isNew = place.known === undefined;
  if (superseded.length > 0) facts.history.record("replaced", fact.id);
  else if (isNew) facts.history.record("written", fact.id);
  else if (isPinned) facts.history.record("pinned", fact.id);
  return { fact, isNew, superseded };
}

/** What the whole organization sees passes an inbox, unless one who may decide there says it. */
export function needsApproval(viewer: Viewer, { scope, origin }: Pick<NewFact, "scope" | "origin">): boolean {
  return scope === "team" && (origin !== "user-stated" || !viewer.mayWriteTeamFacts);
}

function projectMissing(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "project_missing",
    message: "A fact of a project needs the project that it belongs to.",
    advice: "Write it from within a workspace, or with scope personal.",
  });
}

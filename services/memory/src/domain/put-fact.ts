import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audienceOf } from "./audience.ts";
import { slotOf, textKeyOf } from "./fact-keys.ts";
import type { Fact, FactOrigin, NewFact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { stemsOf } from "./stems.ts";
import type { Viewer } from "./viewer.ts";

const TRUST: Readonly<Record<FactOrigin, number>> = { "system-generated": 0, "model-inferred": 1, "user-stated": 2 };

export interface PutFact {
  readonly fact: Fact;
  /** False where the same was known already. */
  readonly isNew: boolean;
  readonly superseded: readonly Fact[];
}

/**
 * Puts a fact into its slot: what held there is superseded and stays in the history. The same text again adds nothing,
 * unless it now comes from somebody more to be trusted.
 */
export async function putFact(facts: ScopedFacts, viewer: Viewer, draft: NewFact, corrected?: Fact): Promise<PutFact> {
  checkScope(viewer, draft);
  const audience = audienceOf(viewer.organization, { ...draft, owner: viewer.principal });
  const slot = slotOf(draft.subject, draft.predicate);
  const textKey = textKeyOf(draft.text);
  await facts.lock(audience);

  const same = await facts.sameText(audience, slot, textKey);
  const known = same !== undefined && same.id !== corrected?.id && TRUST[same.origin] >= TRUST[draft.origin] ? same : undefined;
  const inSlot = slot === "" ? undefined : await facts.inSlot(audience, slot);
  const id = known?.id ?? randomUUID();
  const superseded: Fact[] = [];
  for (const old of new Map([same, corrected, inSlot].filter((fact) => fact !== undefined).map((fact) => [fact.id, fact])).values())
    if (old.id !== id) superseded.push(await facts.end(old.id, id));

  if (known === undefined) {
    const stems = stemsOf([draft.text, draft.subject, draft.predicate, draft.category, ...draft.tags].join(" "));
    const fact = await facts.insert({ ...draft, id, audience, slot, textKey, stems });
    await facts.history.record(superseded.length === 0 ? "written" : "replaced", id);
    return { fact, isNew: true, superseded };
  }
  const isPinned = draft.pinned && !known.pinned;
  const fact = isPinned ? await facts.setPinned(id, true) : known;
  if (superseded.length > 0) await facts.history.record("replaced", id);
  else if (isPinned) await facts.history.record("pinned", id);
  return { fact, isNew: false, superseded };
}

function checkScope(viewer: Viewer, draft: NewFact): void {
  if (draft.scope === "project" && draft.project === "")
    throw new HlvmError({
      code: "invalid_argument",
      reason: "project_missing",
      message: "A fact of a project needs the project that it belongs to.",
      advice: "Write it from within a workspace, or with scope personal.",
    });
  if (draft.scope === "team" && !viewer.mayWriteTeamFacts)
    throw new HlvmError({
      code: "permission_denied",
      reason: "team_fact_refused",
      message: "What the whole organization sees is written by approvers and administrators.",
      advice: "Write it with scope project or personal, or ask an approver to write it.",
    });
}

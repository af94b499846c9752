import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audienceOf } from "./audience.ts";
import type { NewFact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { sameTexts } from "./place-fact.ts";
import { putFact } from "./put-fact.ts";
import type { Viewer } from "./viewer.ts";
import { newFact, type FactDraft } from "./write-fact.ts";

/** What may be wrong with one fact of many, without anything being wrong with the others. */
const REFUSALS: ReadonlySet<string> = new Set(["fact_empty", "project_missing", "inbox_full"]);

export type WrittenFact =
  | { readonly outcome: "written" | "known" | "replaced" | "proposed"; readonly factId: string }
  | { readonly outcome: "refused"; readonly reason: string; readonly message: string };

/**
 * Remembers many facts in one transaction, each a change of its own that can be undone.
 * @returns what became of each, in their order
 */
export async function writeFacts(facts: ScopedFacts, viewer: Viewer, drafts: readonly FactDraft[]): Promise<WrittenFact[]> {
  const prepared = await Promise.all(drafts.map((draft) => orRefused(() => newFact(viewer, draft))));
  await lockAll(facts, viewer, prepared);
  await facts.lookAhead(prepared.flatMap((fact) => ("outcome" in fact ? [] : sameTexts(viewer, fact))));
  const written: WrittenFact[] = [];
  for (const fact of prepared) written.push("outcome" in fact ? fact : await orRefused(() => writeOne(facts, viewer, fact)));
  return written;
}

async function writeOne(facts: ScopedFacts, viewer: Viewer, draft: NewFact): Promise<WrittenFact> {
  facts.history.beginChange();
  const { fact, isNew, superseded } = await putFact(facts, viewer, draft);
  const outcome = fact.proposal !== undefined ? "proposed" : superseded.length > 0 ? "replaced" : isNew ? "written" : "known";
  return { outcome, factId: fact.id };
}

/** In one order, so that two who write to the same audiences do not wait for each other. */
async function lockAll(facts: ScopedFacts, viewer: Viewer, prepared: readonly (NewFact | WrittenFact)[]): Promise<void> {
  const audiences = prepared.flatMap((fact) =>
    "outcome" in fact ? [] : [audienceOf(viewer.organization, { ...fact, owner: viewer.principal })],
  );
  for (const audience of [...new Set(audiences)].sort()) await facts.lock(audience);
}

async function orRefused<T>(work: () => T | Promise<T>): Promise<T | Extract<WrittenFact, { outcome: "refused" }>> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof HlvmError) || !REFUSALS.has(thrown.reason)) throw thrown;
    return { outcome: "refused", reason: thrown.reason, message: `${thrown.message} ${thrown.advice}`.trim() };
  }
}

import type { FactOrigin } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { putFact, type PutFact } from "./put-fact.ts";
import { validFact } from "./valid-fact.ts";
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

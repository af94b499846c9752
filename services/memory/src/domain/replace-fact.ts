import type { FactOrigin } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { putFact, type PutFact } from "./put-fact.ts";
import { demandTeamRight, validFact } from "./valid-fact.ts";
import type { Viewer } from "./viewer.ts";
import { factText } from "./storable-text.ts";

/** Who corrects a fact, and from where. */
export interface Editor {
  readonly origin: FactOrigin;
  /** Empty where no session does. */
  readonly sourceSessionId: string;
}

/** What a person does, of their own accord. */
export const PERSON: Editor = { origin: "user-stated", sourceSessionId: "" };

/**
 * Puts a corrected text in a fact's place; the old one stays in the history. The correction is trusted as far as the
 * one who makes it, and is a proposal where the fact is more to be trusted than that.
 * @throws HlvmError `fact_not_found`, `fact_ended`, `fact_empty`, `team_fact_refused`, `inbox_full`
 */
export async function replaceFact(facts: ScopedFacts, viewer: Viewer, id: string, text: string, editor: Editor): Promise<PutFact> {
  const old = await validFact(facts, viewer, id);
  if (editor.origin === "user-stated") demandTeamRight(viewer, old);
  const said = { actor: "", sourceOrdinal: undefined, saidAt: undefined, validatedAt: undefined };
  return putFact(facts, viewer, { ...old, ...editor, ...said, text: factText(text) }, old);
}

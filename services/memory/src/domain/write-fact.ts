import type { FactOrigin, FactScope, FactType, NewFact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { findSlot } from "./find-slot.ts";
import { putFact, type PutFact } from "./put-fact.ts";
import { factText, storableText } from "./storable-text.ts";
import type { Viewer } from "./viewer.ts";

/** A fact as somebody states it. */
export interface FactDraft {
  readonly text: string;
  readonly category: string;
  /** Left out: project for what belongs to a project, else user. */
  readonly type: FactType | undefined;
  /** Left out: project within a workspace, else personal. */
  readonly scope: FactScope | undefined;
  readonly origin: FactOrigin;
  readonly subject: string;
  readonly predicate: string;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly sourceSessionId: string;
  readonly actor?: string;
  readonly sourceOrdinal?: number;
  readonly saidAt?: Date;
}

/**
 * Remembers a fact, without the secrets in it.
 * @throws HlvmError `fact_empty`, `project_missing`, `team_fact_refused`
 */
export async function writeFact(facts: ScopedFacts, viewer: Viewer, draft: FactDraft): Promise<PutFact> {
  return putFact(facts, viewer, newFact(viewer, draft));
}

/**
 * A fact as it would be stored.
 * @throws HlvmError `fact_empty`
 */
export function newFact(viewer: Viewer, draft: FactDraft): NewFact {
  const scope = draft.scope ?? (viewer.project === "" ? "personal" : "project");
  const text = factText(draft.text);
  return {
    ...draft,
    ...slotFor(draft, text),
    scope,
    type: draft.type ?? (scope === "project" ? "project" : "user"),
    project: scope === "project" ? viewer.project : "",
    text,
    category: storableText(draft.category),
    actor: storableText(draft.actor ?? ""),
    sourceOrdinal: draft.sourceOrdinal,
    saidAt: draft.saidAt,
    validatedAt: undefined,
    tags: [...new Set(draft.tags.map(storableText))].filter((tag) => tag !== ""),
  };
}

/** As it was said; else as the sentence itself says, unless it is one of a conversation, of which each is kept. */
function slotFor({ subject, predicate, sourceOrdinal }: FactDraft, text: string): { readonly subject: string; readonly predicate: string } {
  const given = { subject: storableText(subject), predicate: storableText(predicate) };
  if (given.subject !== "" || given.predicate !== "" || sourceOrdinal !== undefined) return given;
  return findSlot(text) ?? given;
}

import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { FactOrigin, FactScope, FactType, NewFact } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { findSlot } from "./find-slot.ts";
import { putFact, type PutFact } from "./put-fact.ts";
import { redactSecrets } from "./redact-secrets.ts";
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
  const scope = draft.scope ?? (viewer.project === "" ? "personal" : "project");
  const text = factText(draft.text);
  const clean: NewFact = {
    ...draft,
    ...slotFor(draft, text),
    scope,
    type: draft.type ?? (scope === "project" ? "project" : "user"),
    project: scope === "project" ? viewer.project : "",
    text,
    category: storable(draft.category),
    actor: storable(draft.actor ?? ""),
    sourceOrdinal: draft.sourceOrdinal,
    saidAt: draft.saidAt,
    validatedAt: undefined,
    tags: [...new Set(draft.tags.map(storable))].filter((tag) => tag !== ""),
  };
  return putFact(facts, viewer, clean);
}

/** As it was said; else as the sentence itself says, unless it is one of a conversation, of which each is kept. */
function slotFor({ subject, predicate, sourceOrdinal }: FactDraft, text: string): { readonly subject: string; readonly predicate: string } {
  const given = { subject: storable(subject), predicate: storable(predicate) };
  if (given.subject !== "" || given.predicate !== "" || sourceOrdinal !== undefined) return given;
  return findSlot(text) ?? given;
}

/**
 * A fact's text as it may be stored.
 * @throws HlvmError `fact_empty`
 */
export function factText(text: string): string {
  const clean = storable(text);
  const remainder = clean.replace(/\[secret: [\w ]+\]/g, "");
  if (/[\p{L}\p{N}]/u.test(remainder)) return clean;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "fact_empty",
    message: clean === remainder ? "The fact says nothing." : "The fact is nothing but a secret, and secrets are not remembered.",
    advice: "Give a sentence that stands alone, and say where a secret is kept instead of the secret.",
  });
}

/** Without secrets and without the one character that PostgreSQL cannot hold. */
function storable(text: string): string {
  return redactSecrets(text.replaceAll("\0", "").trim());
}

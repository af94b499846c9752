import type { Fact, FactOrigin, FactScope, FactType, ProposalState } from "../domain/fact.ts";

/** A row of table `fact`, as far as the domain sees it. */
export interface FactRow extends Record<string, unknown> {
  fact_id: string;
  owner: string;
  project: string;
  scope: FactScope;
  text: string;
  category: string;
  type: FactType;
  origin: FactOrigin;
  subject: string;
  predicate: string;
  tags: string[];
  pinned: boolean;
  source_session_id: string;
  valid_from: Date;
  valid_to: Date | null;
  superseded_by: string | null;
  actor: string;
  source_ordinal: number | null;
  said_at: Date | null;
  validated_at: Date | null;
  proposal: ProposalState | null;
  proposal_of: string | null;
  proposes_end: boolean;
  found_subject: string;
  found_predicate: string;
}

export const FACT_COLUMNS = `fact_id, owner, project, scope, text, category, type, origin, subject, predicate, tags, pinned, source_session_id,
  valid_from, valid_to, superseded_by, actor, source_ordinal, said_at, validated_at, proposal, proposal_of, proposes_end,
  found_subject, found_predicate`;

export function factOf(row: FactRow): Fact {
  return {
    id: row.fact_id,
    owner: row.owner,
    project: row.project,
    scope: row.scope,
    text: row.text,
    category: row.category,
    type: row.type,
    origin: row.origin,
    subject: row.subject,
    predicate: row.predicate,
    tags: row.tags,
    pinned: row.pinned,
    sourceSessionId: row.source_session_id,
    validFrom: row.valid_from,
    validTo: row.valid_to ?? undefined,
    supersededBy: row.superseded_by ?? "",
    actor: row.actor,
    sourceOrdinal: row.source_ordinal ?? undefined,
    saidAt: row.said_at ?? undefined,
    validatedAt: row.validated_at ?? undefined,
    proposal: row.proposal ?? undefined,
    proposalOf: row.proposal_of ?? "",
    proposesEnd: row.proposes_end,
    foundSubject: row.found_subject,
    foundPredicate: row.found_predicate,
  };
}

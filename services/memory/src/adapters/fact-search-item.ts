import type { FactOrigin, FactScope } from "../domain/fact.ts";
import type { SearchItem } from "../domain/search/search-item.ts";

export interface SearchedFactRow extends Record<string, unknown> {
  fact_id: string;
  audience: string;
  organization: string;
  owner: string;
  project: string;
  scope: FactScope;
  source_session_id: string;
  source_ordinal: number | null;
  actor: string;
  said_at: Date | null;
  origin: FactOrigin;
  text: string;
  subject: string;
  predicate: string;
  category: string;
  tags: string[];
}

export const SEARCHED_FACT_COLUMNS = `fact_id, audience, organization, owner, project, scope, source_session_id, source_ordinal, actor, said_at,
  origin, text, subject, predicate, category, tags`;

/** A fact as it is found: by its text and by what is said about it. */
export function factSearchItem(row: SearchedFactRow): SearchItem {
  const { audience, organization, owner, project, scope, actor, origin } = row;
  return {
    itemId: row.fact_id,
    kind: "fact",
    audience,
    organization,
    owner,
    project,
    scope,
    actor,
    origin,
    container: row.source_session_id,
    ordinal: row.source_ordinal,
    saidAt: row.said_at,
    text: [row.text, row.subject, row.predicate, row.category, ...row.tags].join(" \n "),
  };
}

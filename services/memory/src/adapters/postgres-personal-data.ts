import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Database, Queries } from "@hlvm/postgres/database";
import type { Person, PersonalData, PersonalRecord, RecordPage } from "../domain/privacy/personal-data.ts";

const PAGE_RECORDS = 500;
/** In place of the name of a person who was erased. */
const ERASED = "erased";

/** Of each kind: `id` in the order of which its records are told, and the object. $1 organization, $2 person. */
const KINDS: readonly (readonly [kind: string, sql: string])[] = [
  [
    "fact",
    `SELECT fact_id::text AS id, jsonb_build_object('fact_id', fact_id, 'scope', scope, 'project', project, 'text', text, 'category', category,
       'type', type, 'origin', origin, 'subject', subject, 'predicate', predicate, 'tags', tags, 'pinned', pinned, 'actor', actor,
       'source_session_id', source_session_id, 'said_at', said_at, 'valid_from', valid_from, 'valid_to', valid_to,
       'superseded_by', superseded_by, 'proposal', proposal, 'found_subject', found_subject, 'found_predicate', found_predicate) AS record
     FROM fact WHERE organization = $1 AND owner = $2`,
  ],
  [
    "fact_change",
    `SELECT change_id::text AS id, jsonb_build_object('change_id', change_id, 'fact_id', fact_id, 'kind', kind, 'session_id', session_id,
       'run_id', run_id, 'call_id', call_id, 'changed_at', changed_at) AS record
     FROM fact_change WHERE organization = $1 AND principal = $2`,
  ],
  [
    "recall",
    `SELECT lpad(recall_id::text, 19, '0') AS id, jsonb_build_object('kind', kind, 'session_id', session_id, 'run_id', run_id, 'query', query,
       'shown', shown, 'project', project, 'recalled_at', recalled_at) AS record
     FROM recall_log WHERE organization = $1 AND owner = $2`,
  ],
  [
    "recall_mark",
    `SELECT lpad(recall_id::text, 19, '0') || fact_id AS id, jsonb_build_object('query', query, 'fact_id', fact_id, 'recalled_at', recalled_at,
       'marked_at', marked_at) AS record
     FROM recall_mark JOIN recall_log USING (organization, owner, recall_id) WHERE organization = $1 AND owner = $2`,
  ],
  [
    "answered_run",
    `SELECT run_id AS id, jsonb_build_object('run_id', run_id, 'shown', shown, 'used', used, 'rederived', rederived,
       'answered_at', answered_at) AS record
     FROM answered_run WHERE organization = $1 AND owner = $2`,
  ],
  [
    "project",
    `SELECT project_id AS id, jsonb_build_object('project_id', project_id, 'name', name, 'is_removed', is_removed, 'paths',
       (SELECT coalesce(jsonb_agg(path), '[]') FROM project_alias WHERE (project_alias.organization, principal, project_alias.project_id)
         = ($1, $2, project.project_id))) AS record
     FROM project JOIN project_member USING (organization, project_id) WHERE organization = $1 AND principal = $2`,
  ],
  [
    "transcript",
    `SELECT transcript_id::text AS id, jsonb_build_object('tool', tool, 'session', session, 'title', title, 'folder', folder,
       'machine', machine, 'cited', cited, 'imported_at', imported_at, 'forgotten_at', forgotten_at) AS record
     FROM transcript WHERE organization = $1 AND owner = $2`,
  ],
  [
    "session_label",
    `SELECT transcript_id::text AS id, jsonb_build_object('tool', tool, 'session', session, 'label', label, 'summary', summary,
       'status', status, 'decisions', decisions, 'open_questions', open_questions, 'entities', entities, 'model', model,
       'labelled_at', labelled_at) AS record
     FROM session_label JOIN transcript USING (transcript_id) WHERE session_label.organization = $1 AND session_label.owner = $2`,
  ],
  [
    "turn",
    `SELECT turn_id::text AS id, jsonb_build_object('tool', tool, 'session', session, 'key', key, 'ordinal', ordinal, 'speaker', speaker,
       'said_at', said_at, 'text', text) AS record
     FROM transcript_turn JOIN transcript USING (transcript_id) WHERE transcript_turn.organization = $1 AND transcript_turn.owner = $2`,
  ],
  [
    "wiki_revision",
    `SELECT revision_id::text AS id, jsonb_build_object('scope', wiki_revision.scope, 'project', wiki_revision.project, 'name', name,
       'number', number, 'content', content, 'removes', removes, 'reason', reason, 'state', state, 'written_by', written_by,
       'session_id', session_id, 'written_at', written_at, 'decided_by', decided_by, 'decided_at', decided_at) AS record
     FROM wiki_revision JOIN wiki_page USING (page_id) WHERE wiki_revision.organization = $1 AND $2 IN (written_by, decided_by)`,
  ],
  [
    "mention",
    `SELECT item_id || ' ' || md5(kind || ' ' || key) AS id, jsonb_build_object('item_id', item_id, 'item_kind', item_kind, 'kind', kind,
       'name', name, 'role', role) AS record
     FROM entity_mention WHERE organization = $1 AND owner = $2`,
  ],
];

/** What goes with a person, and what is counted of it. */
const ERASURES: readonly (readonly [kind: string, sql: string])[] = [
  ["", "DELETE FROM model_work WHERE organization = $1 AND owner = $2"],
  ["session_labels", "DELETE FROM session_label WHERE organization = $1 AND owner = $2"],
  ["turns", "DELETE FROM transcript_turn WHERE organization = $1 AND owner = $2"],
  ["transcripts", "DELETE FROM transcript WHERE organization = $1 AND owner = $2"],
  ["recall_marks", "DELETE FROM recall_mark WHERE organization = $1 AND owner = $2"],
  ["recalls", "DELETE FROM recall_log WHERE organization = $1 AND owner = $2"],
  ["answered_runs", "DELETE FROM answered_run WHERE organization = $1 AND owner = $2"],
  ["", "DELETE FROM tool_receipt WHERE organization = $1 AND owner = $2"],
  ["", "DELETE FROM project_alias WHERE organization = $1 AND principal = $2"],
  ["projects", "DELETE FROM project_member WHERE organization = $1 AND principal = $2"],
  ["", `UPDATE search_item SET owner = '${ERASED}', actor = '' WHERE organization = $1 AND owner = $2 AND scope <> 'personal'`],
  [
    "shared_facts",
    `UPDATE fact SET owner = '${ERASED}', actor = '', source_session_id = '' WHERE organization = $1 AND owner = $2 AND scope <> 'personal'`,
  ],
  [
    "shared_revisions",
    `UPDATE wiki_revision SET written_by = '${ERASED}', session_id = '', call_id = '' WHERE organization = $1 AND written_by = $2`,
  ],
  ["", `UPDATE wiki_revision SET decided_by = '${ERASED}' WHERE organization = $1 AND decided_by = $2`],
  ["", `UPDATE fact_change SET owner = '${ERASED}' WHERE organization = $1 AND owner = $2`],
  [
    "",
    `UPDATE fact_change SET principal = '${ERASED}', session_id = '', run_id = '', call_id = '' WHERE organization = $1 AND principal = $2`,
  ],
];

/** In PostgreSQL, as the owner of the tables: no scope is entered, and whoever calls has said who may. */
export class PostgresPersonalData implements PersonalData {
  readonly #database: Database;
  readonly #onOutbox: () => void;

  /** @param onOutbox called after a commit that left something for the index */
  constructor(database: Database, onOutbox: () => void) {
    this.#database = database;
    this.#onOutbox = onOutbox;
  }

  async exportPage({ organization, principal }: Person, cursor: string): Promise<RecordPage> {
    const [, kindBefore = KINDS[0]![0], idBefore = ""] = /^([a-z_]+):(.*)$/.exec(cursor) ?? [];
    const first = KINDS.findIndex(([kind]) => kind === kindBefore);
    if (first < 0 || (cursor !== "" && idBefore === "")) throw malformed();
    const records: PersonalRecord[] = [];
    for (const [index, [kind, sql]] of KINDS.slice(first).entries()) {
      const limit = PAGE_RECORDS - records.length;
      const rows = await this.#database.query<{ id: string; record: object }>(
        `SELECT id, record FROM (${sql}) AS held WHERE id COLLATE "C" > $3 ORDER BY id COLLATE "C" LIMIT $4`,
        [organization, principal, index === 0 ? idBefore : "", limit],
      );
      records.push(...rows.map(({ record }) => ({ kind, json: JSON.stringify(record) })));
      if (rows.length === limit) return { records, nextCursor: `${kind}:${rows.at(-1)!.id}` };
    }
    return { records, nextCursor: "" };
  }

  async erase({ organization, principal }: Person): Promise<ReadonlyMap<string, number>> {
    const counts = await this.#database.transaction(async (queries) => {
      const erased = new Map([["personal_facts", await forgetPersonal(queries, organization, principal)]]);
      for (const [kind, sql] of ERASURES) {
        const [row] = await queries.query<{ count: number }>(
          `WITH changed AS (${sql} RETURNING 1) SELECT count(*)::int AS count FROM changed`,
          [organization, principal],
        );
        if (kind !== "") erased.set(kind, row!.count);
      }
      return erased;
    });
    this.#onOutbox();
    return counts;
  }
}

async function forgetPersonal(queries: Queries, organization: string, principal: string): Promise<number> {
  const [row] = await queries.query<{ ids: string[] }>(
    "SELECT coalesce(array_agg(fact_id), '{}') AS ids FROM fact WHERE organization = $1 AND owner = $2 AND scope = 'personal'",
    [organization, principal],
  );
  await queries.query("SELECT forget_facts($1::uuid[])", [row!.ids]);
  return row!.ids.length;
}

function malformed(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "cursor_malformed",
    message: "The cursor is none that an export gave.",
    advice: "Begin again without one.",
  });
}

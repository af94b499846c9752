import { createHash } from "node:crypto";
import type { Database, Queries } from "@hlvm/postgres/database";
import type {
  RankedTurn,
  Transcript,
  TranscriptFilter,
  TranscriptHead,
  TranscriptName,
  TranscriptSource,
  TranscriptStore,
  Turn,
  TurnsStored,
} from "../domain/transcripts/transcript-store.ts";
import type { Embedder } from "../domain/search/embedder.ts";
import { withQuestionVector } from "../domain/search/with-question-vector.ts";
import type { Viewer } from "../domain/viewer.ts";
import { ENTITIES_VERSION } from "../domain/entities/item-mentions.ts";
import { PostgresEntityMentions } from "./postgres-entity-mentions.ts";
import { PostgresSearch } from "./postgres-search.ts";
import { PostgresSearchItems } from "./postgres-search-items.ts";
import { turnSearchItem } from "./turn-search-item.ts";
import { TRANSCRIPT_COLUMNS, TURN_COLUMNS, transcriptOf, turnOf, type TranscriptRow, type TurnRow } from "./transcript-row.ts";

type HeadToPut = TranscriptHead & { readonly firstAsked: string };

/** Sessions with other agents, in PostgreSQL; row-level security shows each person their own. */
export class PostgresTranscripts implements TranscriptStore {
  readonly #database: Database;
  readonly #embedder: Embedder | undefined;

  /** @param embedder left out: searches go by words alone */
  constructor(database: Database, embedder?: Embedder) {
    this.#database = database;
    this.#embedder = embedder;
  }

  put(viewer: Viewer, head: HeadToPut, turns: readonly Turn[]): Promise<TurnsStored> {
    return this.#inScope(viewer, async (queries) => {
      const id = idOf(viewer, head.tool, head.session);
      if (!(await this.#putHead(queries, viewer, id, head))) return { added: 0, changed: 0, unchanged: 0, isForgotten: true };
      const known = await queries.query<{ key: string; text: string }>(
        "SELECT key, text FROM transcript_turn WHERE transcript_id = $1 AND key = ANY($2::text[])",
        [id, turns.map(({ key }) => key)],
        "transcript-known",
      );
      const texts = new Map(known.map(({ key, text }) => [key, text]));
      const fresh = turns.filter(({ key, text }) => texts.get(key) !== text);
      const { organization, principal: owner } = viewer;
      const { tool, session } = head;
      const rows = fresh.map(({ saidAt, ...turn }) => ({
        ...turn,
        organization,
        owner,
        tool,
        session,
        turn_id: idOf(viewer, tool, session, turn.key),
        said_at: saidAt ?? null,
      }));
      await queries.query(
        `INSERT INTO transcript_turn (turn_id, transcript_id, organization, owner, key, ordinal, speaker, said_at, text, entities_version)
         SELECT turn_id, $1, organization, owner, key, ordinal, speaker, said_at, text, ${ENTITIES_VERSION}
         FROM jsonb_to_recordset($2::jsonb) AS turn (turn_id uuid, organization text, owner text, key text, ordinal integer, speaker text,
           said_at timestamptz, text text)
         ON CONFLICT (turn_id) DO UPDATE SET ordinal = excluded.ordinal, speaker = excluded.speaker, said_at = excluded.said_at,
           text = excluded.text, version = transcript_turn.version + 1, entities_version = excluded.entities_version`,
        [id, JSON.stringify(rows)],
        "transcript-put",
      );
      await new PostgresSearchItems().put(queries, rows.map(turnSearchItem));
      await new PostgresEntityMentions().putTurns(queries, rows);
      const changed = fresh.filter(({ key }) => texts.has(key)).length;
      return { added: fresh.length - changed, changed, unchanged: turns.length - fresh.length, isForgotten: false };
    });
  }

  /** @returns false where the session was forgotten */
  async #putHead(queries: Queries, viewer: Viewer, id: string, head: HeadToPut): Promise<boolean> {
    const rows = await queries.query(
      `INSERT INTO transcript (transcript_id, organization, owner, tool, session, title, folder, machine)
       VALUES ($1, $2, $3, $4, $5, coalesce(nullif($6, ''), $9), $7, $8)
       ON CONFLICT (transcript_id) DO UPDATE SET title = coalesce(nullif($6, ''), nullif(transcript.title, ''), $9),
         folder = coalesce(nullif(excluded.folder, ''), transcript.folder), machine = excluded.machine, imported_at = now()
       WHERE transcript.forgotten_at IS NULL RETURNING transcript_id`,
      [id, viewer.organization, viewer.principal, head.tool, head.session, head.title, head.folder, head.machine, head.firstAsked],
      "transcript-head",
    );
    return rows.length > 0;
  }

  list(viewer: Viewer, { tool, text, status, limit }: TranscriptFilter): Promise<Transcript[]> {
    return this.#inScope(viewer, async (queries) => {
      const rows = await queries.query<TranscriptRow>(
        `SELECT ${TRANSCRIPT_COLUMNS} FROM transcript WHERE forgotten_at IS NULL AND ($1 = '' OR tool = $1)
           AND ($3 = '' OR EXISTS (SELECT FROM session_label AS said WHERE said.transcript_id = transcript.transcript_id AND said.status = $3))
           AND NOT EXISTS (SELECT FROM unnest($4::text[]) AS word WHERE strpos(lower(transcript.title), word) = 0 AND NOT EXISTS (
             SELECT FROM session_label AS said WHERE said.transcript_id = transcript.transcript_id AND strpos(lower(concat_ws(' ', label, summary,
               array_to_string(decisions, ' '), array_to_string(open_questions, ' '), array_to_string(entities, ' '))), word) > 0))
         ORDER BY imported_at DESC, transcript_id LIMIT $2`,
        [
          tool,
          limit,
          status ?? "",
          text
            .toLowerCase()
            .split(/\s+/u)
            .filter((word) => word !== ""),
        ],
        "transcript-list",
      );
      return rows.map(transcriptOf);
    });
  }

  async search(viewer: Viewer, query: string, limit: number): Promise<RankedTurn[]> {
    const words = await this.#inScope(viewer, (queries) => new PostgresSearch(queries).ask("turn", query));
    if (words.question.terms.length === 0 && words.question.actors.length === 0) return [];
    const { asked } = await withQuestionVector(this.#embedder, words, query);
    return this.#inScope(viewer, async (queries) => {
      const found = await new PostgresSearch(queries).score(asked, limit);
      const rows = await queries.query<TurnRow & TranscriptRow & { turn_id: string }>(
        `SELECT turn_id, ${TURN_COLUMNS}, ${TRANSCRIPT_COLUMNS} FROM transcript_turn JOIN transcript USING (transcript_id)
         WHERE turn_id = ANY($1::uuid[])`,
        [found.map(({ itemId }) => itemId)],
        "transcript-found",
      );
      const byId = new Map(rows.map((row) => [row.turn_id, row]));
      return found.flatMap(({ itemId, ...scored }) => {
        const row = byId.get(itemId);
        return row === undefined ? [] : [{ ...scored, transcript: transcriptOf(row), turn: turnOf(row) }];
      });
    });
  }

  read(viewer: Viewer, name: TranscriptName, fromOrdinal: number, limit: number) {
    return this.#inScope(viewer, async (queries) => {
      const id = idOf(viewer, name.tool, name.session);
      const [head] = await queries.query<TranscriptRow>(
        `SELECT ${TRANSCRIPT_COLUMNS} FROM transcript WHERE transcript_id = $1 AND forgotten_at IS NULL`,
        [id],
        "transcript-find",
      );
      if (head === undefined) return undefined;
      const turns = await queries.query<TurnRow>(
        `SELECT ${TURN_COLUMNS} FROM transcript_turn WHERE transcript_id = $1 AND ordinal >= $2 ORDER BY ordinal, turn_id LIMIT $3`,
        [id, fromOrdinal, limit],
        "transcript-read",
      );
      return { transcript: transcriptOf(head), turns: turns.map(turnOf) };
    });
  }

  countCitation(viewer: Viewer, { tool, session }: TranscriptName): Promise<void> {
    return this.#inScope(viewer, async (queries) => {
      await queries.query(
        "UPDATE transcript SET cited = cited + 1 WHERE transcript_id = $1",
        [idOf(viewer, tool, session)],
        "transcript-cite",
      );
    });
  }

  sources(viewer: Viewer): Promise<TranscriptSource[]> {
    return this.#inScope(viewer, (queries) =>
      queries.query<TranscriptSource & Record<string, unknown>>(
        `SELECT tool, machine, count(*)::int AS sessions, coalesce(sum(held.turns), 0)::int AS turns,
           count(*) FILTER (WHERE NOT held.by_person)::int AS "sessionsWithoutPerson", max(held.newest) AS "newestTurnAt",
           max(imported_at) AS "importedAt"
         FROM transcript, LATERAL (SELECT count(*) AS turns, coalesce(bool_or(speaker = 'person'), false) AS by_person, max(said_at) AS newest
           FROM transcript_turn WHERE transcript_turn.transcript_id = transcript.transcript_id) AS held
         WHERE forgotten_at IS NULL GROUP BY tool, machine ORDER BY tool, machine`,
        [],
        "transcript-sources",
      ),
    );
  }

  forget(viewer: Viewer, tool: string, session: string): Promise<{ sessions: number; turns: number }> {
    return this.#inScope(viewer, async (queries) => {
      const ids = await queries.query<{ transcript_id: string }>(
        `UPDATE transcript SET forgotten_at = now(), title = '', folder = '', machine = ''
         WHERE tool = $1 AND ($2 = '' OR session = $2) AND forgotten_at IS NULL RETURNING transcript_id`,
        [tool, session],
        "transcript-forget",
      );
      const turns = await queries.query(
        "DELETE FROM transcript_turn WHERE transcript_id = ANY($1::uuid[]) RETURNING true",
        [ids.map((row) => row.transcript_id)],
        "transcript-forget-turns",
      );
      return { sessions: ids.length, turns: turns.length };
    });
  }

  #inScope<T>(viewer: Viewer, work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (queries) => {
      await queries.query("SELECT enter_scope($1, $2, $3)", [viewer.organization, viewer.principal, ""], "enter-scope");
      return work(queries);
    });
  }
}

/** The same names give the same id, so that whoever imports something again finds it. */
function idOf(viewer: Viewer, ...names: string[]): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([viewer.organization, viewer.principal, ...names]))
    .digest("hex");
  // As RFC 9562 has UUIDs of an application's own making.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

import type { Database, Queries } from "@hlvm/postgres/database";
import { askedKeys } from "../domain/entities/asked-keys.ts";
import type { Fact } from "../domain/fact.ts";
import type { CountedEntity, Thread, ThreadQuestion, ThreadStore } from "../domain/threads/thread.ts";
import type { Viewer } from "../domain/viewer.ts";
import { FACT_COLUMNS, factOf, type FactRow } from "./fact-row.ts";
import { eventsOf } from "./thread-events.ts";
import { THREAD_OF_FACT } from "./thread-of-fact.sql.ts";

const MOST_ITEMS = 2_000;
const MOST_FACTS = 100;
const MOST_RELATED = 24;
const MOST_SIMILAR = 10;
/** Of a name that is unknown, what is looked through for one that holds it. */
const MOST_LOOKED_THROUGH = 100_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const COUNTED = `kind, key, (array_agg(name ORDER BY mentioned_at DESC, name))[1] AS name, count(DISTINCT item_id)::int AS items,
  bool_and(found_by <> '') AS "isFoundByModel"`;

/** What a thread is of, and its items. */
interface Subject {
  readonly keys: readonly string[];
  readonly entities: readonly CountedEntity[];
  readonly fact: Fact | undefined;
  readonly sessionId: string;
  readonly factIds: readonly string[];
  readonly turnIds: readonly string[];
}

const NOTHING: Subject = { keys: [], entities: [], fact: undefined, sessionId: "", factIds: [], turnIds: [] };

/** Threads in PostgreSQL: in one transaction whose role sees nothing but the viewer's scope, counts and names included. */
export class PostgresThreads implements ThreadStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get(viewer: Viewer, question: ThreadQuestion): Promise<Thread> {
    return this.#database.transaction(async (queries) => {
      await queries.query("SELECT enter_scope($1, $2, $3)", [viewer.organization, viewer.principal, viewer.project], "enter-scope");
      const { keys, factIds, turnIds, ...about } = await subjectOf(queries, viewer, question);
      const items = [...factIds, ...turnIds];
      return {
        ...about,
        similar:
          about.fact === undefined && about.sessionId === "" ? await similarTo(queries, viewer, keys, about.entities.length > 0) : [],
        facts: await factsBeside(queries, factIds),
        ...(await eventsOf(queries, viewer, { factIds, turnIds }, question)),
        related: await relatedTo(queries, items, keys),
      };
    });
  }
}

async function subjectOf(queries: Queries, viewer: Viewer, question: ThreadQuestion): Promise<Subject> {
  const { name } = question;
  if (question.kind === undefined && UUID.test(name)) {
    const [row] = await queries.query<FactRow>(`SELECT ${FACT_COLUMNS} FROM fact WHERE fact_id = $1`, [name], "fact-find");
    if (row !== undefined) {
      const thread = await queries.query<{ fact_id: string }>(THREAD_OF_FACT, [name], "thread-of-fact");
      return { ...NOTHING, fact: factOf(row), factIds: thread.map(({ fact_id: id }) => id) };
    }
  }
  const entity = await entityNamed(queries, viewer, question);
  return entity.entities.length > 0 || question.kind !== undefined ? entity : await sessionNamed(queries, viewer, name, entity.keys);
}

async function entityNamed(queries: Queries, viewer: Viewer, { name, kind }: ThreadQuestion): Promise<Subject> {
  const keys = askedKeys(name);
  const wanted = [viewer.organization, keys, kind ?? ""];
  const where = "organization = $1 AND key = ANY($2::text[]) AND ($3 = '' OR kind = $3)";
  const entities = await queries.query<CountedEntity & Record<string, unknown>>(
    `SELECT ${COUNTED} FROM entity_mention WHERE ${where} GROUP BY kind, key ORDER BY items DESC, kind, key`,
    wanted,
    "entity-find",
  );
  if (entities.length === 0) return { ...NOTHING, keys };
  const items = await queries.query<{ item_id: string; item_kind: "fact" | "turn" }>(
    `SELECT item_id, item_kind FROM entity_mention WHERE ${where} ORDER BY mentioned_at DESC, item_id LIMIT ${MOST_ITEMS}`,
    wanted,
    "entity-items",
  );
  const idsOf = (what: string): string[] => [...new Set(items.filter((item) => item.item_kind === what).map((item) => item.item_id))];
  return { ...NOTHING, keys, entities, factIds: idsOf("fact"), turnIds: idsOf("turn") };
}

/** A session of ours by the facts that it wrote, or an imported one. */
async function sessionNamed(queries: Queries, viewer: Viewer, name: string, keys: readonly string[]): Promise<Subject> {
  const facts = await queries.query<{ id: string }>(
    `SELECT fact_id AS id FROM fact WHERE organization = $1 AND source_session_id = $2 AND source_session_id <> ''
     ORDER BY valid_from DESC, fact_id LIMIT ${MOST_ITEMS}`,
    [viewer.organization, name],
    "session-facts",
  );
  const turns = await queries.query<{ id: string }>(
    `SELECT turn_id AS id FROM transcript_turn JOIN transcript USING (transcript_id)
     WHERE transcript.organization = $1 AND transcript.owner = $2 AND session = $3 ORDER BY ordinal DESC, turn_id LIMIT ${MOST_ITEMS}`,
    [viewer.organization, viewer.principal, name],
    "session-turns",
  );
  const [factIds, turnIds] = [facts, turns].map((rows) => rows.map(({ id }) => id));
  return { ...NOTHING, keys, sessionId: facts.length + turns.length > 0 ? name : "", factIds: factIds!, turnIds: turnIds! };
}

/** Those too that took their place, or whose place they took. Proposals never held. */
async function factsBeside(queries: Queries, factIds: readonly string[]): Promise<Fact[]> {
  const rows = await queries.query<FactRow>(
    `SELECT ${FACT_COLUMNS} FROM fact WHERE proposal IS NULL AND fact_id IN (
       SELECT unnest($1::uuid[])
       UNION SELECT superseded_by FROM fact WHERE fact_id = ANY($1::uuid[])
       UNION SELECT fact_id FROM fact WHERE superseded_by = ANY($1::uuid[])
     ) ORDER BY valid_from DESC, fact_id LIMIT ${MOST_FACTS}`,
    [factIds],
    "thread-facts",
  );
  return rows.map(factOf);
}

async function relatedTo(queries: Queries, items: readonly string[], keys: readonly string[]): Promise<CountedEntity[]> {
  return queries.query<CountedEntity & Record<string, unknown>>(
    `SELECT ${COUNTED} FROM entity_mention WHERE item_id = ANY($1::uuid[]) AND key <> ALL($2::text[])
     GROUP BY kind, key ORDER BY items DESC, key, kind LIMIT ${MOST_RELATED}`,
    [items, keys],
    "entity-related",
  );
}

/** Names that hold what was asked for; where that is unknown, those too that hold a word of it. */
async function similarTo(queries: Queries, viewer: Viewer, keys: readonly string[], isKnown: boolean): Promise<CountedEntity[]> {
  const [key = ""] = keys;
  const words = [key, ...(isKnown ? [] : key.split(/[^\p{L}\p{N}]+/u))].filter((word) => word.length > 2).slice(0, 8);
  return queries.query<CountedEntity & Record<string, unknown>>(
    `SELECT ${COUNTED} FROM (
       SELECT kind, key, name, mentioned_at, item_id, found_by FROM entity_mention WHERE organization = $1 LIMIT ${MOST_LOOKED_THROUGH}
     ) AS known WHERE key <> ALL($2::text[]) AND EXISTS (SELECT FROM unnest($3::text[]) AS word WHERE strpos(key, word) > 0)
     GROUP BY kind, key ORDER BY strpos(key, $4) = 0, items DESC, key, kind LIMIT ${MOST_SIMILAR}`,
    [viewer.organization, keys, words, key],
    "entity-similar",
  );
}

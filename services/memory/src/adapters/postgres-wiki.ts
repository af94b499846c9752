import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Database, Queries } from "@hlvm/postgres/database";
import type { Embedder } from "../domain/search/embedder.ts";
import { withQuestionVector } from "../domain/search/with-question-vector.ts";
import type { Viewer } from "../domain/viewer.ts";
import type {
  PageHead,
  PageName,
  RankedPage,
  RevisionDraft,
  RevisionFilter,
  WikiPage,
  WikiRevision,
  WikiStore,
} from "../domain/wiki/wiki-store.ts";
import { PostgresSearch } from "./postgres-search.ts";
import { PostgresSearchItems } from "./postgres-search-items.ts";
import { PAGES, pageOf, pageSearchItem, revisionColumns, revisionOf, type PageRow, type RevisionRow } from "./wiki-row.ts";

const REVISIONS = "FROM wiki_revision JOIN wiki_page USING (page_id)";

/** Pages and their revisions, in PostgreSQL; row-level security shows a project's to who reads it. */
export class PostgresWiki implements WikiStore {
  readonly #database: Database;
  readonly #embedder: Embedder | undefined;

  /** @param embedder left out: searches go by words alone */
  constructor(database: Database, embedder?: Embedder) {
    this.#database = database;
    this.#embedder = embedder;
  }

  list(viewer: Viewer, limit: number): Promise<WikiPage[]> {
    return this.#inScope(viewer, async (queries) => {
      const rows = await queries.query<PageRow>(`${PAGES} ORDER BY name, wiki_page.scope LIMIT $1`, [limit], "wiki-list");
      return rows.map(pageOf);
    });
  }

  find(viewer: Viewer, { scope, name }: PageName): Promise<WikiPage | undefined> {
    return this.#inScope(viewer, async (queries) => {
      const [row] = await queries.query<PageRow>(`${PAGES} AND wiki_page.scope = $1 AND name = $2`, [scope, name], "wiki-find");
      return row && pageOf(row);
    });
  }

  async search(viewer: Viewer, query: string, limit: number): Promise<RankedPage[]> {
    const words = await this.#inScope(viewer, (queries) => new PostgresSearch(queries).ask("page", query));
    if (words.question.terms.length === 0) return [];
    const { asked } = await withQuestionVector(this.#embedder, words, query);
    return this.#inScope(viewer, async (queries) => {
      const found = await new PostgresSearch(queries).score(asked, limit);
      const ids = found.map(({ itemId }) => itemId);
      const rows = await queries.query<PageRow & { page_id: string }>(
        `${PAGES} AND wiki_page.page_id = ANY($1::uuid[])`,
        [ids],
        "wiki-found",
      );
      const byId = new Map(rows.map((row) => [row.page_id, pageOf(row)]));
      return found.flatMap(({ itemId, ...scored }) => {
        const page = byId.get(itemId);
        return page === undefined ? [] : [{ ...scored, page }];
      });
    });
  }

  add(viewer: Viewer, draft: RevisionDraft, head: PageHead, state: "published" | "waiting"): Promise<WikiRevision> {
    return this.#inScope(viewer, async (queries) => {
      const pageId = await lockedPage(queries, viewer, draft);
      const { sessionId = "", callId = "" } = viewer.call ?? {};
      const [before] = callId === "" ? [] : await revisionsBy(queries, "session_id = $1 AND call_id = $2", [sessionId, callId]);
      if (before !== undefined) return before;
      await demandBase(queries, pageId, draft);
      const id = randomUUID();
      await queries.query(
        `INSERT INTO wiki_revision (revision_id, page_id, organization, scope, project, base, content, removes, reason, state, written_by,
           session_id, call_id)
         SELECT $1, page_id, organization, scope, project, $3, $4, $5, $6, 'waiting', $7, $8, $9 FROM wiki_page WHERE page_id = $2`,
        [id, pageId, draft.base, draft.content, draft.removes, draft.reason, viewer.principal, sessionId, callId],
        "wiki-add",
      );
      if (state === "published") await publish(queries, { pageId, id, decidedBy: "" }, head);
      return (await revisionsBy(queries, "revision_id = $1", [id]))[0]!;
    });
  }

  publish(viewer: Viewer, revision: WikiRevision, head: PageHead): Promise<WikiRevision> {
    return this.#inScope(viewer, async (queries) => {
      const pageId = await lockedPage(queries, viewer, revision);
      await demandWaiting(queries, revision.id);
      await demandBase(queries, pageId, revision);
      await publish(queries, { pageId, id: revision.id, decidedBy: viewer.principal }, head);
      return (await revisionsBy(queries, "revision_id = $1", [revision.id]))[0]!;
    });
  }

  reject(viewer: Viewer, revision: WikiRevision): Promise<WikiRevision> {
    return this.#inScope(viewer, async (queries) => {
      await lockedPage(queries, viewer, revision);
      await demandWaiting(queries, revision.id);
      const sql = "UPDATE wiki_revision SET state = 'rejected', decided_by = $2, decided_at = clock_timestamp() WHERE revision_id = $1";
      await queries.query(sql, [revision.id, viewer.principal], "wiki-reject");
      return (await revisionsBy(queries, "revision_id = $1", [revision.id]))[0]!;
    });
  }

  countWaiting(viewer: Viewer): Promise<number> {
    return this.#inScope(viewer, async (queries) => {
      const sql = "SELECT count(*)::int AS count FROM wiki_revision WHERE state = 'waiting' AND written_by = $1";
      return (await queries.query<{ count: number }>(sql, [viewer.principal], "wiki-waiting"))[0]!.count;
    });
  }

  revisions(viewer: Viewer, { name, state }: RevisionFilter, limit: number): Promise<WikiRevision[]> {
    return this.#inScope(viewer, async (queries) => {
      const rows = await queries.query<RevisionRow>(
        `SELECT ${revisionColumns("''")} ${REVISIONS} WHERE ($1 = '' OR name = $1) AND ($2::text IS NULL OR state = $2)
         ORDER BY written_at DESC, revision_id LIMIT $3`,
        [name, state ?? null, limit],
        "wiki-revisions",
      );
      return rows.map(revisionOf);
    });
  }

  findRevision(viewer: Viewer, id: string): Promise<WikiRevision | undefined> {
    return this.#inScope(viewer, async (queries) => (await revisionsBy(queries, "revision_id = $1", [id]))[0]);
  }

  contentOf(viewer: Viewer, { scope, name }: PageName, number: number): Promise<string> {
    return this.#inScope(viewer, async (queries) => {
      const [row] = await queries.query<{ content: string }>(
        `SELECT content ${REVISIONS} WHERE wiki_page.scope = $1 AND name = $2 AND number = $3 AND number > 0`,
        [scope, name, number],
        "wiki-content",
      );
      return row?.content ?? "";
    });
  }

  endedFacts(viewer: Viewer, ids: readonly string[]): Promise<string[]> {
    return this.#inScope(viewer, async (queries) => {
      const sql = "SELECT fact_id FROM fact WHERE fact_id = ANY($1::uuid[]) AND valid_to IS NOT NULL";
      return (await queries.query<{ fact_id: string }>(sql, [ids], "wiki-facts")).map((row) => row.fact_id);
    });
  }

  #inScope<T>(viewer: Viewer, work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (queries) => {
      await queries.query("SELECT enter_scope($1, $2, $3)", [viewer.organization, viewer.principal, viewer.project], "enter-scope");
      return work(queries);
    });
  }
}

/** One page is changed by one at a time; a page that nobody wrote before is made. @returns its id */
async function lockedPage(queries: Queries, viewer: Viewer, { scope, name }: PageName): Promise<string> {
  const place = [viewer.organization, scope, scope === "project" ? viewer.project : "", name];
  await queries.query(
    `INSERT INTO wiki_page (page_id, organization, scope, project, name) VALUES ($5, $1, $2, $3, $4)
     ON CONFLICT (organization, scope, project, name) DO NOTHING`,
    [...place, randomUUID()],
    "wiki-page",
  );
  const sql = "SELECT page_id FROM wiki_page WHERE organization = $1 AND scope = $2 AND project = $3 AND name = $4 FOR UPDATE";
  return (await queries.query<{ page_id: string }>(sql, place, "wiki-lock"))[0]!.page_id;
}

async function revisionsBy(queries: Queries, where: string, values: readonly unknown[]): Promise<WikiRevision[]> {
  const rows = await queries.query<RevisionRow>(`SELECT ${revisionColumns()} ${REVISIONS} WHERE ${where}`, values);
  return rows.map(revisionOf);
}

async function demandWaiting(queries: Queries, id: string): Promise<void> {
  const [revision] = await revisionsBy(queries, "revision_id = $1", [id]);
  if (revision?.state === "waiting") return;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "wiki_revision_decided",
    message: `Revision ${id} was ${revision?.state ?? "forgotten"} already.`,
    advice: "`hlvm memory wiki history` shows by whom.",
  });
}

async function demandBase(queries: Queries, pageId: string, { name, base }: RevisionDraft): Promise<void> {
  const [page] = await queries.query<{ present: number }>("SELECT present FROM wiki_page WHERE page_id = $1", [pageId], "wiki-present");
  const present = page!.present;
  if (base === present) return;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "wiki_page_changed",
    message:
      present === 0
        ? `There is no page ${name} now, and this was written on its revision ${base}.`
        : `The page ${name} is at revision ${present} now, and this was written on ${base === 0 ? "no page" : `revision ${base}`}.`,
    advice: present === 0 ? "Write it as a new page (base 0)." : `Read it again, and write on revision ${present}.`,
  });
}

interface Publication {
  readonly pageId: string;
  readonly id: string;
  /** Empty where its writer published it. */
  readonly decidedBy: string;
}

/** The revision is what the page says from now on, and by its words the page is found. */
async function publish(queries: Queries, { pageId, id, decidedBy }: Publication, { title, summary, tags }: PageHead): Promise<void> {
  const [page] = await queries.query<{ numbers: number }>(
    "UPDATE wiki_page SET numbers = numbers + 1 WHERE page_id = $1 RETURNING numbers",
    [pageId],
    "wiki-number",
  );
  const [revision] = await queries.query<{ removes: boolean; content: string }>(
    `UPDATE wiki_revision SET state = 'published', number = $2, decided_by = $3,
       decided_at = CASE WHEN $3 = '' THEN NULL ELSE clock_timestamp() END
     WHERE revision_id = $1 RETURNING removes, content`,
    [id, page!.numbers, decidedBy],
    "wiki-publish",
  );
  const { removes, content } = revision!;
  const [row] = await queries.query<{ page_id: string; organization: string; scope: "project" | "team"; project: string }>(
    `UPDATE wiki_page SET present = $2, title = $3, summary = $4, tags = $5 WHERE page_id = $1
     RETURNING page_id, organization, scope, project`,
    [pageId, removes ? 0 : page!.numbers, title, summary, tags],
    "wiki-head",
  );
  const items = new PostgresSearchItems();
  if (removes) await items.remove(queries, [pageId]);
  else await items.put(queries, [pageSearchItem({ ...row!, content })]);
}

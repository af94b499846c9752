import { randomUUID } from "node:crypto";
import type { Database, Queries } from "@hlvm/postgres/database";
import type { ClaimedItem, ModelWorkStore, WaitingWork, WorkClaim } from "../domain/model-work/model-work.ts";
import type { Viewer } from "../domain/viewer.ts";
import { PostgresClaimedItem } from "./postgres-claimed-item.ts";
import { PostgresScopedFacts } from "./postgres-scoped-facts.ts";

/** After so many refused answers an item is left alone until it changes. */
export const MOST_REFUSALS = 3;

interface ClaimRow extends Record<string, unknown> {
  item_id: string;
  kind: WorkClaim["kind"];
  project: string;
}

/** What waits for a model, in PostgreSQL; row-level security shows each person their own. */
export class PostgresModelWork implements ModelWorkStore {
  readonly #database: Database;
  readonly #onOutbox: () => void;

  /** @param onOutbox called after a commit that left something for the index */
  constructor(database: Database, onOutbox: () => void) {
    this.#database = database;
    this.#onOutbox = onOutbox;
  }

  claim(viewer: Viewer, seconds: number): Promise<WorkClaim | undefined> {
    return this.#inScope(viewer, async (queries) => {
      const claimId = randomUUID();
      const [row] = await queries.query<ClaimRow>(
        `WITH next AS (
           SELECT item_id FROM model_work
           WHERE due_at <= now() AND refusals < ${MOST_REFUSALS} AND (claimed_until IS NULL OR claimed_until < now())
             AND organization = $3 AND owner = $4
           ORDER BY due_at, item_id LIMIT 1 FOR UPDATE SKIP LOCKED
         )
         UPDATE model_work SET claim_id = $1, claimed_until = now() + make_interval(secs => $2) FROM next
         WHERE model_work.item_id = next.item_id RETURNING model_work.item_id, kind, project`,
        [claimId, seconds, viewer.organization, viewer.principal],
        "model-work-claim",
      );
      return row && claimOf(claimId, row);
    });
  }

  find(viewer: Viewer, claimId: string): Promise<WorkClaim | undefined> {
    return this.#inScope(viewer, (queries) => findClaim(queries, claimId, ""));
  }

  async withClaimed<T>(viewer: Viewer, claimId: string, work: (item: ClaimedItem) => Promise<T>): Promise<T | undefined> {
    let isOutboxFed = false;
    const done = await this.#inScope(viewer, async (queries) => {
      const claim = await findClaim(queries, claimId, "FOR UPDATE");
      if (claim === undefined) return undefined;
      const facts = new PostgresScopedFacts(queries, viewer);
      const result = await work(new PostgresClaimedItem(queries, viewer, claim, facts));
      isOutboxFed = await facts.finish();
      return result;
    });
    if (isOutboxFed) this.#onOutbox();
    return done;
  }

  async release(viewer: Viewer, claimId: string): Promise<void> {
    await this.#inScope(viewer, (queries) =>
      // What keeps a model from one item does not keep it from the others: it is the last one now.
      queries.query(
        "UPDATE model_work SET claim_id = NULL, claimed_until = NULL, due_at = now() WHERE claim_id = $1",
        [claimId],
        "model-work-release",
      ),
    );
  }

  count(viewer: Viewer): Promise<WaitingWork> {
    return this.#inScope(viewer, async (queries) => {
      const [row] = await queries.query<WaitingWork & Record<string, unknown>>(
        `SELECT count(*) FILTER (WHERE kind = 'session' AND refusals < ${MOST_REFUSALS})::int AS sessions,
           count(*) FILTER (WHERE kind = 'fact' AND refusals < ${MOST_REFUSALS})::int AS facts,
           count(*) FILTER (WHERE refusals >= ${MOST_REFUSALS})::int AS "setAside"
         FROM model_work WHERE organization = $1 AND owner = $2`,
        [viewer.organization, viewer.principal],
        "model-work-count",
      );
      return row!;
    });
  }

  #inScope<T>(viewer: Viewer, work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (queries) => {
      await queries.query("SELECT enter_scope($1, $2, $3)", [viewer.organization, viewer.principal, viewer.project], "enter-scope");
      return work(queries);
    });
  }
}

async function findClaim(queries: Queries, claimId: string, lock: "" | "FOR UPDATE"): Promise<WorkClaim | undefined> {
  const [row] = await queries.query<ClaimRow>(
    `SELECT item_id, kind, project FROM model_work WHERE claim_id = $1 AND claimed_until > now() ${lock}`,
    [claimId],
    lock === "" ? "model-work-find" : "model-work-lock",
  );
  return row && claimOf(claimId, row);
}

function claimOf(claimId: string, { item_id: itemId, kind, project }: ClaimRow): WorkClaim {
  return { claimId, itemId, kind, project };
}

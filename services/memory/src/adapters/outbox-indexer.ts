import type { Log } from "@hlvm/log/create-log";
import type { Database } from "@hlvm/postgres/database";
import type { Circuit } from "./circuit.ts";
import type { MeilisearchFactWriter } from "./meilisearch-fact-writer.ts";
import { ReceiptCleaner } from "./receipt-cleaner.ts";

const BATCH_ROWS = 500;
/** Where a batch was full there are many: Meilisearch takes ten times as many facts in hardly more time. */
const BULK_ROWS = 5_000;
/** Finds what another replica left behind; what is written here wakes the indexer at once. */
const IDLE_POLL_MILLISECONDS = 10_000;
const RETRY_MILLISECONDS = [250, 500, 1_000, 2_000, 5_000];

/** A page of all facts takes well under a second: of a million at once, a statement never comes to its end within its deadline. */
const PAGE_FACTS = 10_000;
const START = "00000000-0000-0000-0000-000000000000";

/** Takes the rows' locks first: what another replica is just finishing did not go into the index that is made now. */
const FILL_OUTBOX = `
  WITH page AS MATERIALIZED (
    SELECT fact_id FROM fact WHERE fact_id > $1 AND valid_to IS NULL ORDER BY fact_id LIMIT ${PAGE_FACTS}
  ), waiting AS MATERIALIZED (
    SELECT fact_id FROM outbox WHERE fact_id IN (SELECT fact_id FROM page) ORDER BY outbox_id FOR UPDATE
  ), filled AS (
    INSERT INTO outbox (fact_id) SELECT fact_id FROM page WHERE fact_id NOT IN (SELECT fact_id FROM waiting)
  )
  SELECT fact_id FROM page ORDER BY fact_id DESC LIMIT 1`;

/** Everybody's audience has the same share of a batch: who imports a million facts slows nobody else. */
const NEXT_BATCH = `
  WITH RECURSIVE lane AS (
    (SELECT audience FROM outbox ORDER BY audience LIMIT 1)
    UNION ALL
    SELECT (SELECT outbox.audience FROM outbox WHERE outbox.audience > lane.audience ORDER BY outbox.audience LIMIT 1) FROM lane
    WHERE lane.audience IS NOT NULL
  ), shared AS MATERIALIZED (SELECT audience, count(*) OVER () AS lanes FROM (SELECT audience FROM lane WHERE audience IS NOT NULL LIMIT $1) AS few)
  SELECT next.outbox_id, next.fact_id FROM shared, LATERAL (
    SELECT outbox_id, fact_id FROM outbox WHERE outbox.audience = shared.audience ORDER BY outbox_id LIMIT greatest(1, $1 / shared.lanes)
    FOR UPDATE SKIP LOCKED
  ) AS next`;

interface OutboxRow extends Record<string, unknown> {
  outbox_id: string;
  fact_id: string;
}

/**
 * Carries facts from the database into the search index. A row of the outbox goes when the index has taken its fact;
 * doing one twice does no harm. While the index is away the rows wait; an index that is gone is filled from all facts.
 */
export class OutboxIndexer {
  readonly #database: Database;
  readonly #writer: MeilisearchFactWriter;
  readonly #circuit: Circuit;
  readonly #log: Log;
  readonly #closing = new AbortController();
  #wake: () => void = () => undefined;
  #isWoken = false;
  readonly #receipts: ReceiptCleaner;
  #failures = 0;
  #batchRows = BATCH_ROWS;
  #running: Promise<void> | undefined;

  constructor(database: Database, writer: MeilisearchFactWriter, circuit: Circuit, log: Log) {
    this.#database = database;
    this.#writer = writer;
    this.#circuit = circuit;
    this.#log = log;
    this.#receipts = new ReceiptCleaner(database);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** There is something for the index. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#writer.close();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#isWoken = false;
      try {
        await this.#catchUp();
        this.#succeeded();
        await this.#receipts.forgetOld();
        if (!this.#isWoken) await this.#sleep(IDLE_POLL_MILLISECONDS, true);
      } catch (cause) {
        if (this.#closing.signal.aborted) return;
        this.#failed(cause);
        await this.#sleep(RETRY_MILLISECONDS[Math.min(this.#failures, RETRY_MILLISECONDS.length) - 1]!, false);
      }
    }
  }

  async #catchUp(): Promise<void> {
    if (await this.#writer.isMissing()) {
      await this.#fillOutbox();
      await this.#writer.create();
      this.#log.info("the search index is new and is being filled from the database");
    }
    while (!this.#closing.signal.aborted && (await this.#indexBatch())) continue;
  }

  /** Begun anew where it was interrupted, until the index is made: what waits already waits once. */
  async #fillOutbox(): Promise<void> {
    for (let behind: string | undefined = START; behind !== undefined;) {
      this.#closing.signal.throwIfAborted();
      const [last]: { fact_id: string }[] = await this.#database.query(FILL_OUTBOX, [behind]);
      behind = last?.fact_id;
    }
  }

  /** @returns whether there may be more */
  async #indexBatch(): Promise<boolean> {
    return this.#database.transaction(async (queries) => {
      const rows = await queries.query<OutboxRow>(NEXT_BATCH, [this.#batchRows]);
      if (rows.length === 0) return false;
      const facts = await queries.query<{ id: string; audience: string; stems: string; is_valid: boolean }>(
        "SELECT fact_id AS id, audience, stems, valid_to IS NULL AS is_valid FROM fact WHERE fact_id = ANY($1::uuid[])",
        [rows.map((row) => row.fact_id)],
      );
      const valid = facts.filter((fact) => fact.is_valid);
      const kept = new Set(valid.map(({ id }) => id));
      await this.#writer.put(valid.map(({ id, audience, stems }) => ({ id, audience, stems })));
      await this.#writer.remove(rows.map((row) => row.fact_id).filter((id) => !kept.has(id)));
      await queries.query("DELETE FROM outbox WHERE outbox_id = ANY($1::bigint[])", [rows.map((row) => row.outbox_id)]);
      // With many audiences a share is rounded down.
      this.#batchRows = rows.length > this.#batchRows / 2 ? BULK_ROWS : BATCH_ROWS;
      return true;
    });
  }

  #succeeded(): void {
    if (this.#failures > 0) this.#log.info("the search index is back and has caught up");
    this.#failures = 0;
    this.#circuit.answered();
  }

  #failed(cause: unknown): void {
    this.#failures++;
    this.#batchRows = BATCH_ROWS;
    if (this.#failures === 1) this.#log.warn({ err: cause }, "the search index cannot be fed; what is written waits in the outbox");
  }

  #sleep(milliseconds: number, untilWoken: boolean): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        if (!untilWoken && !this.#closing.signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

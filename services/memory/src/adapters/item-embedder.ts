import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import type { Database } from "@hlvm/postgres/database";
import type { Embedder } from "../domain/search/embedder.ts";
import { quantize } from "../domain/search/quantized-vector.ts";
import { awaitEmbeddings } from "./embedding-model.ts";

/** Few, since questions wait behind them where a server takes one request at a time. */
const BATCH_ITEMS = 16;
/** A text's beginning says what it is about, and models take no more than some hundred words. */
const MAXIMUM_CHARACTERS = 1_000;
const DEADLINE_MILLISECONDS = 60_000;
/** Longer than a batch takes; then whoever asks next gets it. */
const CLAIM = "interval '2 minutes'";
const IDLE_POLL_MILLISECONDS = 1_000;
const RETRY_MILLISECONDS = [1_000, 5_000, 30_000];

/** Where a text of so few is refused, it is not for its length. */
const SHORTEST_CHARACTERS = 250;

interface ClaimedText extends Record<string, unknown> {
  item_id: string;
  text: string | null;
}
interface EmbeddedText extends ClaimedText {
  /** Undefined: it gets none. */
  vector: readonly number[] | undefined;
}

/**
 * Gives texts their vectors in the background, those that wait longest first; replicas share the work. While the model is away they wait;
 * what it does not take stays without.
 */
export class ItemEmbedder {
  readonly #database: Database;
  readonly #embedder: Embedder;
  readonly #log: Log;
  readonly #closing = new AbortController();
  #failures = 0;
  #running: Promise<void> | undefined;

  constructor(database: Database, embedder: Embedder, log: Log) {
    this.#database = database;
    this.#embedder = embedder;
    this.#log = log;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let isFilled = false;
    while (!signal.aborted) {
      let pause = IDLE_POLL_MILLISECONDS;
      try {
        if (!isFilled) await awaitEmbeddings(this.#database, signal);
        isFilled = true;
        while (!signal.aborted && (await this.#embedBatch())) this.#succeeded();
      } catch (cause) {
        if (signal.aborted) return;
        if (++this.#failures === 1) this.#log.warn({ err: cause }, "texts cannot be given vectors; they wait");
        pause = RETRY_MILLISECONDS[Math.min(this.#failures, RETRY_MILLISECONDS.length) - 1]!;
      }
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  #succeeded(): void {
    if (this.#failures > 0) this.#log.info("texts are given vectors again");
    this.#failures = 0;
  }

  /** @returns whether there was any */
  async #embedBatch(): Promise<boolean> {
    const claimed = await this.#database.query<{ item_id: string; due_at: string }>(
      `UPDATE item_embedding SET due_at = now() + ${CLAIM} WHERE item_id IN (
         SELECT item_id FROM item_embedding WHERE due_at <= now() ORDER BY due_at LIMIT ${BATCH_ITEMS} FOR UPDATE SKIP LOCKED
       ) RETURNING item_id, due_at::text`,
    );
    if (claimed.length === 0) return false;
    const claim = claimed[0]!.due_at;
    try {
      await this.#put(await this.#embed(await this.#textsOf(claimed.map((row) => row.item_id))), claim);
    } catch (cause) {
      await this.#release(claim).catch(() => undefined);
      throw cause;
    }
    return true;
  }

  #textsOf(itemIds: readonly string[]): Promise<ClaimedText[]> {
    return this.#database.query<ClaimedText>(
      `SELECT item_id, left(nullif(concat_ws(': ', nullif(item.actor, ''), coalesce(fact.text, turn.text, revision.content)), ''), ${MAXIMUM_CHARACTERS}) AS text
       FROM search_item AS item
         LEFT JOIN fact ON kind = 'fact' AND fact_id = item_id
         LEFT JOIN transcript_turn AS turn ON kind = 'turn' AND turn_id = item_id
         LEFT JOIN wiki_page ON kind = 'page' AND wiki_page.page_id = item_id
         LEFT JOIN wiki_revision AS revision ON revision.page_id = wiki_page.page_id AND number = present
       WHERE item_id = ANY($1::uuid[])`,
      [itemIds],
    );
  }

  /** Of texts that are refused together each is asked for alone: one that is too long keeps no other from its vector. */
  async #embed(texts: readonly ClaimedText[]): Promise<EmbeddedText[]> {
    const [blank, asked] = [texts.filter(({ text }) => isBlank(text)), texts.filter(({ text }) => !isBlank(text))];
    const without = blank.map((row) => ({ ...row, vector: undefined }));
    if (asked.length === 0) return without;
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(DEADLINE_MILLISECONDS)]);
      const vectors = await this.#embedder.embed(
        asked.map(({ text }) => text!),
        signal,
      );
      return [...without, ...asked.map((row, at) => ({ ...row, vector: vectors[at] }))];
    } catch (thrown) {
      if (!(thrown instanceof HlvmError) || thrown.reason !== "embeddings_refused") throw thrown;
      if (asked.length === 1) return [...without, await this.#embedShorter(asked[0]!, thrown)];
      const each = [];
      for (const row of asked) each.push(...(await this.#embed([row])));
      return [...without, ...each];
    }
  }

  async #embedShorter(row: ClaimedText, refusal: HlvmError): Promise<EmbeddedText> {
    const shorter = row.text!.slice(0, Math.floor(row.text!.length / 2));
    if (shorter.length >= SHORTEST_CHARACTERS) return (await this.#embed([{ ...row, text: shorter }]))[0]!;
    this.#log.warn({ err: refusal, item: row.item_id }, "a text was refused a vector");
    return { ...row, vector: undefined };
  }

  /** What has changed or was claimed anew meanwhile is left as it is, and so is all once another model was chosen. */
  async #put(texts: readonly EmbeddedText[], claim: string): Promise<void> {
    const vectors = texts.map(({ vector }) => vector && quantize(vector));
    await this.#database.query(
      `UPDATE item_embedding SET due_at = NULL, signs = made.signs::bit varying, vector = made.vector
       FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS made (item_id, signs, vector)
       WHERE item_embedding.item_id = made.item_id AND due_at = $4::timestamptz AND EXISTS (SELECT FROM embedding_model WHERE name = $5)`,
      [
        texts.map((row) => row.item_id),
        vectors.map((vector) => vector?.signs ?? null),
        vectors.map((vector) => (vector === undefined ? null : Buffer.from(vector.values.buffer))),
        claim,
        this.#embedder.model,
      ],
    );
  }

  async #release(claim: string): Promise<void> {
    await this.#database.query("UPDATE item_embedding SET due_at = now() WHERE due_at = $1::timestamptz", [claim]);
  }
}

function isBlank(text: string | null): boolean {
  return text === null || text.trim() === "";
}

import { setImmediate as nextTick } from "node:timers/promises";
import { context } from "@opentelemetry/api";
import pRetry from "p-retry";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { durationHistogram } from "@hlvm/telemetry/instrument";
import { inSpan } from "@hlvm/telemetry/span";
import type { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SettledCall } from "../budget/budget-store.ts";
import type { DeltaSource, DeltaWriter, TakenDeltas } from "./delta-writer.ts";
import type { Append, EventLog, Lease, NewEvent } from "./event-log.ts";
import { joinProgress, progressLength, type EventPayload } from "./event-payload.ts";
import { Records } from "./records.ts";

/** Shorter than a lease, so that a run has stopped when somebody else may take it over. */
const RETRY_MILLISECONDS = 10_000;
const RETRY = { retries: Number.POSITIVE_INFINITY, minTimeout: 50, factor: 4, maxTimeout: 1_000 };
/** After these the same append may well succeed: where it did already, it finds itself. */
const PASSING = new Set(["database_unreachable", "database_overloaded", "database_disk_full", "database_out_of_memory", "write_conflict"]);
const BATCH_EVENTS = 200;
const SOON_MILLISECONDS = 20;

const recordAppend = durationHistogram("hlvm.append.duration", "How long it takes until entries of a run are durable.");

interface Waiting {
  events: readonly NewEvent[];
  readonly isDelta?: boolean;
  readonly settled?: readonly SettledCall[];
  readonly stopReason?: StopReason;
  readonly isUnreconciled?: boolean;
  readonly written: () => void;
  readonly failed: (cause: unknown) => void;
}

export interface JournalOptions {
  readonly log: EventLog;
  readonly deltas: DeltaWriter;
  readonly lease: Lease;
  readonly principal: string;
  /** Of whoever that is: their budgets count. */
  readonly teams?: readonly string[];
  /** How many events the run has in the log. */
  readonly position: number;
  /** Called once, when the log cannot be written any more: nothing of the run may happen after it. */
  readonly onFailure: (cause: unknown) => void;
  /** How long to go on trying what fails for a reason that may pass. */
  readonly retryMilliseconds?: number;
}

/**
 * Everything that a run writes into its log: entries go in order, those that wait together in one statement, deltas with
 * those of other runs unless something else of the run comes first. After a failure every later entry fails too.
 */
export class RunJournal implements DeltaSource {
  /** What has to be on record before the next effect: entries that somebody asked for, and outcomes in the audit log. */
  readonly records = new Records();
  readonly #options: JournalOptions;
  /** Entries are written together, whichever part of the run they come from: they belong to the run as a whole. */
  readonly #run = context.active();
  #position: number;
  #waiting: Waiting[] = [];
  #soon: NodeJS.Timeout | undefined;
  #isWriting = false;
  #isDue = false;
  #failure: { readonly cause: unknown } | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  /** Resolves when the entries are durable. Nobody needs to wait for that: a failure reaches `onFailure` too. */
  append(turn: number, ...payloads: readonly EventPayload[]): Promise<void> {
    return this.#enqueue({ events: payloads.map((payload) => ({ turn, payload })) });
  }

  /** The same with model calls that ended: they are settled with the entries. */
  appendSettled(turn: number, settled: readonly SettledCall[], ...payloads: readonly EventPayload[]): Promise<void> {
    return this.#enqueue({ events: payloads.map((payload) => ({ turn, payload })), settled });
  }

  /** The same for entries that nobody waits for at once: they are written together with what comes next, within some milliseconds. */
  appendSoon(turn: number, ...payloads: readonly EventPayload[]): Promise<void> {
    const appended = this.#wait({ events: payloads.map((payload) => ({ turn, payload })) });
    this.#soon ??= setTimeout(() => void this.#write(), SOON_MILLISECONDS);
    return appended;
  }

  /** An entry that shows how the run gets on, and that nothing of the run waits for; pieces of one text that wait become one. */
  appendDelta(turn: number, payload: EventPayload): void {
    if (this.#failure !== undefined) return;
    const last = this.#waiting.at(-1);
    const piece = last?.isDelta === true ? last.events[0]! : undefined;
    const joined = piece?.turn === turn ? joinProgress(piece.payload, payload) : undefined;
    if (last !== undefined && joined !== undefined) last.events = [{ turn, payload: joined }];
    else void this.#wait({ events: [{ turn, payload }], isDelta: true });
    this.#options.deltas.add(this, progressLength(payload));
  }

  takeDeltas(): TakenDeltas | undefined {
    if (this.#isWriting || this.#failure !== undefined) return undefined;
    const batch = this.#takeBatch((waiting) => waiting.isDelta === true);
    if (batch.length === 0) return undefined;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const append = this.#appendOf(batch);
    void this.#writeAfter(async () =>
      this.#settle(batch, async () => {
        if (!(await promise)) await this.#appendWithRetry(append);
      }),
    );
    return { append, settle: resolve };
  }

  /**
   * The run's last entry.
   * @param isUnreconciled whether the audit log may lack outcomes of the run's calls
   */
  end(turn: number, payload: EventPayload, stopReason: StopReason, isUnreconciled: boolean): Promise<void> {
    return this.#enqueue({ events: [{ turn, payload }], stopReason, isUnreconciled });
  }

  #enqueue(entry: Omit<Waiting, "written" | "failed">): Promise<void> {
    const appended = this.#wait(entry);
    void this.#write();
    return appended;
  }

  #wait(entry: Omit<Waiting, "written" | "failed">): Promise<void> {
    const appended = new Promise<void>((written, failed) => this.#waiting.push({ ...entry, written, failed }));
    if (entry.isDelta === true) appended.catch(() => undefined);
    else this.records.add(appended);
    return appended;
  }

  /** Writes all that waits, and again where that was asked for meanwhile. */
  async #write(): Promise<void> {
    if (this.#isWriting) return void (this.#isDue = true);
    this.#isDue = true;
    await this.#writeAfter(nextTick);
  }

  /** Nothing else of the run is written while the first goes on. */
  async #writeAfter(first: () => Promise<void>): Promise<void> {
    this.#isWriting = true;
    await first();
    while (this.#isDue) {
      this.#isDue = false;
      clearTimeout(this.#soon);
      this.#soon = undefined;
      await this.#writeWaiting();
    }
    this.#isWriting = false;
    if (this.#waiting.length > 0) this.#options.deltas.add(this, 0);
  }

  async #writeWaiting(): Promise<void> {
    const batches: Waiting[][] = [];
    while (this.#waiting.length > 0) batches.push(this.#takeBatch(() => true));
    for (const batch of batches) await this.#settle(batch, () => this.#appendWithRetry(this.#appendOf(batch)));
  }

  async #settle(batch: readonly Waiting[], write: () => Promise<void>): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure.cause;
      await write();
      for (const { events, written } of batch) {
        this.#position += events.length;
        written();
      }
    } catch (cause) {
      if (this.#failure === undefined) {
        this.#failure = { cause };
        this.#options.onFailure(cause);
      }
      for (const waiting of batch) waiting.failed(cause);
    }
  }

  #appendOf(batch: readonly Waiting[]): Append {
    const { lease, principal, teams } = this.#options;
    const { stopReason, isUnreconciled } = batch.at(-1)!;
    const settled = batch.flatMap((waiting) => waiting.settled ?? []);
    const events = batch.flatMap((waiting) => waiting.events);
    return { lease, principal, position: this.#position, events, stopReason, isUnreconciled, settled, teams };
  }

  #takeBatch(isWanted: (waiting: Waiting) => boolean): Waiting[] {
    const batch: Waiting[] = [];
    let events = 0;
    const fits = (next: Waiting): boolean => isWanted(next) && (events === 0 || events + next.events.length <= BATCH_EVENTS);
    while (this.#waiting.length > 0 && fits(this.#waiting[0]!)) {
      const next = this.#waiting.shift()!;
      batch.push(next);
      events += next.events.length;
      if (next.stopReason !== undefined) break;
    }
    return batch;
  }

  async #appendWithRetry(append: Append): Promise<void> {
    const { log, retryMilliseconds = RETRY_MILLISECONDS } = this.#options;
    const startedAt = performance.now();
    const work = (): Promise<void> =>
      pRetry(() => log.append(append), {
        ...RETRY,
        maxRetryTime: retryMilliseconds,
        shouldRetry: ({ error }) => error instanceof HlvmError && PASSING.has(error.reason),
      });
    await inSpan("hlvm.append", { attributes: { "hlvm.events": append.events.length } }, work, this.#run);
    recordAppend(performance.now() - startedAt);
  }
}

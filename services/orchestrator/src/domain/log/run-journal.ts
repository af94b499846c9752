import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { EventLog, Lease, NewEvent } from "./event-log.ts";
import type { EventPayload } from "./event-payload.ts";

/** Shorter than a lease, so that a run has stopped when somebody else may take it over. */
const RETRY_MILLISECONDS = 10_000;
const RETRY_PAUSES_MILLISECONDS = [50, 200, 500, 1_000];
/** After these the same append may well succeed: where it did already, it finds itself. */
const PASSING = new Set(["database_unreachable", "write_conflict"]);
const BATCH_EVENTS = 200;
const SOON_MILLISECONDS = 20;

interface Waiting {
  readonly events: readonly NewEvent[];
  readonly stopReason?: StopReason;
  readonly isUnreconciled?: boolean;
  readonly written: () => void;
  readonly failed: (cause: unknown) => void;
}

export interface JournalOptions {
  readonly log: EventLog;
  readonly lease: Lease;
  readonly principal: string;
  /** The last sequence there is. */
  readonly after: number;
  /** Called once, when the log cannot be written any more: nothing of the run may happen after it. */
  readonly onFailure: (cause: unknown) => void;
  /** How long to go on trying what fails for a reason that may pass. */
  readonly retryMilliseconds?: number;
}

/**
 * The one door through which a run writes its log: entries go in order, those that wait together in one statement.
 * After a failure every later entry fails too.
 */
export class RunJournal {
  readonly #options: JournalOptions;
  #after: number;
  #waiting: Waiting[] = [];
  #soon: NodeJS.Timeout | undefined;
  #isWriting = false;
  #isDue = false;
  #failure: { readonly cause: unknown } | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#after = options.after;
  }

  /** Resolves when the entries are durable. Whoever does not wait need not: a failure reaches `onFailure` too. */
  append(turn: number, ...payloads: readonly EventPayload[]): Promise<void> {
    return this.#enqueue({ events: payloads.map((payload) => ({ turn, payload })) });
  }

  /** The same for entries that nobody waits for at once: they are written together with what comes next, within some milliseconds. */
  appendSoon(turn: number, ...payloads: readonly EventPayload[]): Promise<void> {
    const appended = this.#wait({ events: payloads.map((payload) => ({ turn, payload })) });
    this.#soon ??= setTimeout(() => void this.#write(), SOON_MILLISECONDS);
    return appended;
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
    appended.catch(() => undefined);
    return appended;
  }

  /** Writes all that waits, and again where that was asked for meanwhile. */
  async #write(): Promise<void> {
    if (this.#isWriting) return void (this.#isDue = true);
    this.#isWriting = true;
    await nextTick();
    do {
      this.#isDue = false;
      clearTimeout(this.#soon);
      this.#soon = undefined;
      await this.#writeWaiting();
    } while (this.#isDue);
    this.#isWriting = false;
  }

  async #writeWaiting(): Promise<void> {
    const batches: Waiting[][] = [];
    while (this.#waiting.length > 0) batches.push(this.#takeBatch());
    for (const batch of batches) {
      try {
        await this.#appendWithRetry(batch);
        for (const waiting of batch) waiting.written();
      } catch (cause) {
        if (this.#failure === undefined) {
          this.#failure = { cause };
          this.#options.onFailure(cause);
        }
        for (const waiting of batch) waiting.failed(cause);
      }
    }
  }

  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let events = 0;
    while (this.#waiting.length > 0 && (events === 0 || events + this.#waiting[0]!.events.length <= BATCH_EVENTS)) {
      const next = this.#waiting.shift()!;
      batch.push(next);
      events += next.events.length;
      if (next.stopReason !== undefined) break;
    }
    return batch;
  }

  async #appendWithRetry(batch: readonly Waiting[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.cause;
    const { log, lease, principal, retryMilliseconds = RETRY_MILLISECONDS } = this.#options;
    const events = batch.flatMap((waiting) => waiting.events);
    const { stopReason, isUnreconciled } = batch.at(-1)!;
    const deadline = performance.now() + retryMilliseconds;
    for (let attempt = 0; ; attempt++) {
      try {
        await log.append({ lease, principal, after: this.#after, events, stopReason, isUnreconciled });
        this.#after += events.length;
        return;
      } catch (cause) {
        const isPassing = cause instanceof HlvmError && PASSING.has(cause.reason);
        if (!isPassing || performance.now() > deadline) throw cause;
        await sleep(RETRY_PAUSES_MILLISECONDS[Math.min(attempt, RETRY_PAUSES_MILLISECONDS.length - 1)]);
      }
    }
  }
}

import type { Append, EventLog } from "./event-log.ts";
import { progressLength } from "./event-payload.ts";

/** Commits cost a database more than rows: a process makes at most twenty a second for what merely shows a run's progress. */
const INTERVAL_MILLISECONDS = 50;
const STATEMENT_BYTES = 500_000;

/** Some of a run's deltas, on their way. */
export interface TakenDeltas {
  readonly append: Append;
  /** Told whether they were appended; where not, the run appends them by itself and finds out why. */
  readonly settle: (isAppended: boolean) => void;
}

export interface DeltaSource {
  /** What waits, in order; undefined where the run is writing by itself. */
  takeDeltas(): TakenDeltas | undefined;
}

/**
 * Writes the deltas of all runs of this process: what comes within 50 ms goes in one statement, sooner where it grows long.
 * A run that is refused does not hold up the others.
 */
export class DeltaWriter {
  readonly #log: Pick<EventLog, "appendEach">;
  readonly #sources = new Set<DeltaSource>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isWriting = false;

  constructor(log: Pick<EventLog, "appendEach">) {
    this.#log = log;
  }

  /** Has deltas taken from the source with the next statement, which is due within 50 ms. */
  add(source: DeltaSource, bytes: number): void {
    this.#sources.add(source);
    this.#bytes += bytes;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isWriting || this.#sources.size === 0) return;
    if (this.#bytes >= STATEMENT_BYTES) return void this.#write();
    this.#timer ??= setTimeout(() => void this.#write(), INTERVAL_MILLISECONDS);
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isWriting = true;
    const taken = this.#take();
    if (taken.length > 0) {
      const appended = await this.#log.appendEach(taken.map(({ append }) => append)).catch(() => []);
      for (const [index, { settle }] of taken.entries()) settle(appended[index] ?? false);
    }
    this.#isWriting = false;
    this.#schedule();
  }

  #take(): TakenDeltas[] {
    const taken: TakenDeltas[] = [];
    let bytes = 0;
    for (const source of this.#sources) {
      if (bytes >= STATEMENT_BYTES) break;
      this.#sources.delete(source);
      const deltas = source.takeDeltas();
      if (deltas === undefined) continue;
      taken.push(deltas);
      for (const { payload } of deltas.append.events) bytes += progressLength(payload);
    }
    this.#bytes = this.#sources.size === 0 ? 0 : Math.max(0, this.#bytes - bytes);
    return taken;
  }
}

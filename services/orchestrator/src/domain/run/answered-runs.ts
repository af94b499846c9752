import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "@hlvm/log/create-log";
import type { RunClaims } from "./run-claims.ts";

const RETRY_MILLISECONDS = 1_000;
/** Longer than a run takes from deciding to be parked until it is. */
const REMEMBERED_MILLISECONDS = 60_000;

/** Tells which runs have answers that they have not taken, for as long as the signal lets it; policy may end it before. */
export type WatchAnswers = (signal: AbortSignal) => AsyncIterable<readonly string[]>;

export interface AnsweredRunsPorts {
  readonly watchAnswers: WatchAnswers;
  readonly claims: Pick<RunClaims, "wake">;
  /** Called when parked runs may be claimed. */
  readonly onWoken: () => void;
  readonly log: Log;
}

/** Wakes parked runs when a person has answered. Every process does, whoever parked them: the first to claim one goes on with it. */
export class AnsweredRuns {
  readonly #ports: AnsweredRunsPorts;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  readonly #answeredAt = new Map<string, number>();
  #isWatching = false;

  constructor(ports: AnsweredRunsPorts) {
    this.#ports = ports;
    this.#watching = this.#watch(this.#closing.signal);
  }

  /** Whether policy tells of answers now: only then may a run be parked. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /**
   * A run was parked: where its answer was told of before that, it is woken now.
   * @param since when it began to wait, by the clock of `performance`: what was told before that was of an earlier question
   */
  async parked(runId: string, since: number): Promise<void> {
    if ((this.#answeredAt.get(runId) ?? Number.NEGATIVE_INFINITY) >= since) await this.#wake([runId]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const runIds of this.#ports.watchAnswers(signal)) {
          this.#isWatching = true;
          await this.#wake(runIds);
        }
      } catch (cause) {
        this.#isWatching = false;
        if (signal.aborted) return;
        this.#ports.log.debug({ err: cause }, "watching for answers is tried again");
        await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #wake(runIds: readonly string[]): Promise<void> {
    if (runIds.length === 0) return;
    this.#forget();
    for (const runId of runIds) {
      this.#answeredAt.delete(runId);
      this.#answeredAt.set(runId, performance.now());
    }
    if ((await this.#ports.claims.wake(runIds)) > 0) this.#ports.onWoken();
  }

  /** The oldest come first: an id that is told again moves to the end. */
  #forget(): void {
    for (const [runId, at] of this.#answeredAt) {
      if (performance.now() - at < REMEMBERED_MILLISECONDS) return;
      this.#answeredAt.delete(runId);
    }
  }
}

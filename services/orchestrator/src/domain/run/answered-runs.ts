import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import type { RunClaims } from "./run-claims.ts";

const RETRY_MILLISECONDS = 1_000;
/** Longer than a run takes from deciding to be parked until it is. */
const REMEMBERED_MILLISECONDS = 60_000;

/**
 * Tells which runs have answers that they have not taken, for as long as the signal lets it; policy may end it before.
 * @throws HlvmError `unimplemented` where this policy cannot tell
 */
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
  readonly #told = new Map<string, number>();
  #isTold = true;

  constructor(ports: AnsweredRunsPorts) {
    this.#ports = ports;
    this.#watching = this.#watch(this.#closing.signal);
  }

  /** Whether policy tells of answers: a release before parked runs does not, and none could be woken. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** Whether one of its questions was answered since then, by the clock of `performance`. */
  has(runId: string, since: number): boolean {
    return (this.#told.get(runId) ?? Number.NEGATIVE_INFINITY) >= since;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watching;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const runIds of this.#ports.watchAnswers(signal)) {
          this.#isTold = true;
          await this.#wake(runIds);
        }
        this.#isTold = true;
      } catch (cause) {
        if (signal.aborted) return;
        if (cause instanceof HlvmError && cause.code === "unimplemented") this.#isTold = false;
        this.#ports.log.debug({ err: cause }, "watching for answers is tried again");
        await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #wake(runIds: readonly string[]): Promise<void> {
    this.#forget();
    for (const runId of runIds) {
      this.#told.delete(runId);
      this.#told.set(runId, performance.now());
    }
    if ((await this.#ports.claims.wake(runIds)) > 0) this.#ports.onWoken();
  }

  /** The oldest come first: an id that is told again moves to the end. */
  #forget(): void {
    for (const [runId, at] of this.#told) {
      if (performance.now() - at < REMEMBERED_MILLISECONDS) return;
      this.#told.delete(runId);
    }
  }
}

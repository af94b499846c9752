import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import pLimit from "p-limit";
import type { Audit, Decided, Outcome } from "../loop/ports.ts";

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 2_000;
/** Told at the same time: policy that comes back is not run over by what has waited for it. */
const PARALLEL = 8;
/** The next model call goes out first, and a decision that comes within this time takes the outcome along. */
const SOON_MILLISECONDS = 20;

interface Waiting {
  readonly outcome: Outcome;
  /** Whether it is on record. */
  readonly recorded: PromiseWithResolvers<boolean>;
}

/**
 * Tells the audit log what came of a run's calls, together with the next decision where one is asked for soon, with retries for
 * as long as the run goes on. What it could not tell is left to whoever reconciles the run. No more than a turn's calls wait
 * here: the next turn's run only when policy has them.
 */
export class OutcomeRecorder {
  readonly #audit: Audit;
  readonly #retryMilliseconds: number;
  readonly #nextAdvice: string;
  readonly #limit = pLimit(PARALLEL);
  readonly #closing = new AbortController();
  #soon: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #waiting = 0;
  #hasLeft = false;

  /**
   * @param retryMilliseconds how long to go on trying before the run may not go on
   * @param nextAdvice what a person can do after it was stopped for that
   */
  constructor(audit: Audit, retryMilliseconds: number, nextAdvice: string) {
    this.#nextAdvice = nextAdvice;
    this.#audit = audit;
    this.#retryMilliseconds = retryMilliseconds;
  }

  /**
   * What came of a call that ran.
   * @throws HlvmError `outcome_not_recorded`: the run may not go on
   */
  async record(outcome: Outcome): Promise<void> {
    const recorded = Promise.withResolvers<boolean>();
    this.#soon.push({ outcome, recorded });
    this.#timer ??= setTimeout(() => this.flush(), SOON_MILLISECONDS);
    await this.#record(outcome, recorded.promise).catch((cause: unknown) => {
      throw new HlvmError({
        code: "unavailable",
        reason: "outcome_not_recorded",
        message: `What came of call ${outcome.callId} could not be written to the audit log: ${cause instanceof Error ? cause.message : String(cause)}`,
        advice: `Check that policy and its database are up (\`hlvm status\`). ${this.#nextAdvice}`,
        cause,
      });
    });
  }

  /**
   * Asks for a decision that takes along what waits. What is not on record by then is told by itself.
   * @throws what `decide` throws
   */
  async recordWith(decide: (ended: readonly Outcome[]) => Promise<Decided>): Promise<Decided> {
    const taken = this.#takeSoon();
    let recordedCallIds: readonly string[] = [];
    try {
      const decided = await decide(taken.map(({ outcome }) => outcome));
      recordedCallIds = decided.recordedCallIds;
      return decided;
    } finally {
      for (const { outcome, recorded } of taken) recorded.resolve(recordedCallIds.includes(outcome.callId));
    }
  }

  /** Tells what waits at once: no decision comes. */
  flush(): void {
    for (const { recorded } of this.#takeSoon()) recorded.resolve(false);
  }

  #takeSoon(): Waiting[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#soon.splice(0);
  }

  /** What came of a call that did not run, although policy may have allowed it: policy refuses it where it has not. */
  recordNotRun(outcome: Outcome): Promise<void> {
    return this.#record(outcome).catch(() => undefined);
  }

  /** Leaves a call, of which nobody could tell what came of it, to whoever reconciles the run. */
  leave(): void {
    this.#hasLeft = true;
  }

  /** Ends the retries. @returns whether the audit log may lack an outcome */
  close(): boolean {
    this.#closing.abort();
    this.flush();
    return this.#hasLeft || this.#waiting > 0;
  }

  async #record(outcome: Outcome, recorded?: Promise<boolean>): Promise<void> {
    this.#waiting++;
    try {
      if ((await recorded) !== true) await this.#recordWithRetry(outcome);
    } catch (cause) {
      // A call that was not allowed has no outcome; one that policy does not know may still be under decision.
      if (!(cause instanceof HlvmError) || cause.reason !== "call_not_allowed") this.#hasLeft = true;
      throw cause;
    } finally {
      this.#waiting--;
    }
  }

  async #recordWithRetry(outcome: Outcome): Promise<void> {
    const { signal } = this.#closing;
    const deadline = performance.now() + this.#retryMilliseconds;
    for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS)) {
      try {
        return await this.#limit(() => this.#audit.recordOutcome(outcome));
      } catch (cause) {
        // An earlier try got through, and only its answer was lost.
        if (cause instanceof HlvmError && cause.code === "already_exists") return;
        if (!isPassing(cause) || signal.aborted || performance.now() + pause > deadline) throw cause;
        await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {
          throw cause;
        });
      }
    }
  }
}

function isPassing(thrown: unknown): boolean {
  return (
    thrown instanceof HlvmError && !["not_found", "failed_precondition", "permission_denied", "invalid_argument"].includes(thrown.code)
  );
}

import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import pLimit from "p-limit";
import type { Audit, Outcome } from "../loop/ports.ts";

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 2_000;
/** Told at the same time: policy that comes back is not run over by what has waited for it. */
const PARALLEL = 8;

/**
 * Tells the audit log what came of a run's calls, with retries for as long as the run goes on. What it could not tell is
 * left to whoever reconciles the run. No more than a turn's calls wait here: the next turn's run only when policy has them.
 */
export class OutcomeRecorder {
  readonly #audit: Audit;
  readonly #retryMilliseconds: number;
  readonly #nextAdvice: string;
  readonly #limit = pLimit(PARALLEL);
  readonly #closing = new AbortController();
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
    // The next model call goes out first: that is what a person waits for.
    await this.#record(outcome, nextTick()).catch((cause: unknown) => {
      throw new HlvmError({
        code: "unavailable",
        reason: "outcome_not_recorded",
        message: `What came of call ${outcome.callId} could not be written to the audit log: ${cause instanceof Error ? cause.message : String(cause)}`,
        advice: `Check that policy and its database are up (\`hlvm status\`). ${this.#nextAdvice}`,
        cause,
      });
    });
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
    return this.#hasLeft || this.#waiting > 0;
  }

  async #record(outcome: Outcome, due?: Promise<void>): Promise<void> {
    this.#waiting++;
    try {
      await due;
      await this.#recordWithRetry(outcome);
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

import { HlvmError } from "@hlvm/errors/hlvm-error";

/**
 * A time without a gap in which this replica holds its lease. What was begun in one term is not gone on with in the next:
 * another replica may have had the session in between. Measured by the monotonic clock, which no clock change moves.
 */
export class LeaseTerm {
  #until: number;
  #isOver = false;

  /** @param until in milliseconds of `performance.now()` */
  constructor(until: number) {
    this.#until = until;
  }

  /** In milliseconds of `performance.now()`. */
  get until(): number {
    return this.#until;
  }

  get isHeld(): boolean {
    return !this.#isOver && performance.now() < this.#until;
  }

  extend(until: number): void {
    this.#until = Math.max(this.#until, until);
  }

  /** The lease is shorter than it was. */
  limit(until: number): void {
    this.#until = Math.min(this.#until, until);
  }

  end(): void {
    this.#isOver = true;
  }

  /** @throws HlvmError `sandbox_lease_lost` */
  require(): void {
    if (!this.isHeld) throw leaseLost();
  }
}

export function leaseLost(): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "sandbox_lease_lost",
    message: "This replica of the sandbox service could not renew its lease in time: it runs nothing until it has.",
    advice: "Try again in a moment. Where it stays so, `hlvm status` tells whether PostgreSQL can be reached.",
  });
}

const WINDOW_SECONDS = 30;
/** Fewer say nothing: one call of one person makes three. */
const FEWEST_FAILURES = 10;
const FAILING_SHARE = 0.5;
const FIRST_REST_MILLISECONDS = 5_000;
const LONGEST_REST_MILLISECONDS = 60_000;
/** What a call waits for another one's probe before it looks again. */
const PROBE_MILLISECONDS = 1_000;

/** Leave for one call. What comes of it is told once; what follows does not count. */
export interface Permit {
  /** Something of an answer has come: whoever waits for a probe need not wait for its end. */
  readonly answering: () => void;
  readonly succeeded: () => void;
  readonly failed: () => void;
  /** It says nothing of the provider: its caller left, or the request itself was bad. */
  readonly withdrawn: () => void;
}

interface Second {
  readonly second: number;
  calls: number;
  failures: number;
}

/**
 * Keeps calls from a provider that fails. It opens where at least ten calls of the last 30 s failed, and half of them all; then
 * it rests for 5 s, and after each probe that fails for twice as long, up to a minute. After a rest one call at a time probes.
 */
export class CircuitBreaker {
  readonly #now: () => number;
  #seconds: Second[] = [];
  #openUntil: number | undefined;
  #rest = FIRST_REST_MILLISECONDS;
  #isProbed = false;
  /** Calls that were let in before it opened or closed say nothing of now. */
  #epoch = 0;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How long it lets nobody in; 0 where a call may go. */
  get waitMilliseconds(): number {
    if (this.#openUntil === undefined) return 0;
    const rest = Math.max(0, this.#openUntil - this.#now());
    return rest === 0 && this.#isProbed ? PROBE_MILLISECONDS : rest;
  }

  /** Undefined while it rests, or is probed. */
  permit(): Permit | undefined {
    if (this.waitMilliseconds > 0) return undefined;
    const isProbe = this.#openUntil !== undefined;
    if (isProbe) this.#isProbed = true;
    return this.#permit(isProbe);
  }

  #permit(isProbe: boolean): Permit {
    let epoch: number | undefined = this.#epoch;
    let isProbing = isProbe;
    const settle = (happen: () => void): void => {
      if (epoch === this.#epoch) happen();
      epoch = undefined;
    };
    const close = (): void => {
      if (!isProbing || epoch !== this.#epoch) return;
      isProbing = false;
      this.#close();
      epoch = this.#epoch;
    };
    return {
      answering: close,
      succeeded: () => {
        close();
        settle(() => this.#count(0));
      },
      failed: () => settle(() => (isProbing ? this.#open(this.#rest * 2) : this.#fail())),
      withdrawn: () =>
        settle(() => {
          if (isProbing) this.#isProbed = false;
        }),
    };
  }

  #fail(): void {
    this.#count(1);
    const failures = this.#seconds.reduce((sum, each) => sum + each.failures, 0);
    const calls = this.#seconds.reduce((sum, each) => sum + each.calls, 0);
    if (failures >= FEWEST_FAILURES && failures >= calls * FAILING_SHARE) this.#open(FIRST_REST_MILLISECONDS);
  }

  #count(failures: 0 | 1): void {
    const second = Math.floor(this.#now() / 1_000);
    this.#seconds = this.#seconds.filter((each) => each.second > second - WINDOW_SECONDS);
    let last = this.#seconds.at(-1);
    if (last?.second !== second) this.#seconds.push((last = { second, calls: 0, failures: 0 }));
    last.calls++;
    last.failures += failures;
  }

  #open(rest: number): void {
    this.#rest = Math.min(rest, LONGEST_REST_MILLISECONDS);
    this.#openUntil = this.#now() + this.#rest;
    this.#reset();
  }

  #close(): void {
    this.#rest = FIRST_REST_MILLISECONDS;
    this.#openUntil = undefined;
    this.#reset();
  }

  #reset(): void {
    this.#isProbed = false;
    this.#seconds = [];
    this.#epoch++;
  }
}

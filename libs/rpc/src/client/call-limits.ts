import { Code, ConnectError } from "@connectrpc/connect";

const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** What ends a call from this side: its caller's signal and its deadline. */
export class CallLimits {
  readonly #signal: AbortSignal | undefined;
  readonly #endsAt: number | undefined;

  /** @param timeoutMilliseconds from now; undefined for none */
  constructor(signal: AbortSignal | undefined, timeoutMilliseconds: number | undefined) {
    this.#signal = signal;
    this.#endsAt = timeoutMilliseconds === undefined ? undefined : performance.now() + timeoutMilliseconds;
  }

  /** @throws ConnectError what the caller's signal says, Canceled where that is no ConnectError */
  throwIfAborted(): void {
    if (this.#signal?.aborted) throw cancellation(this.#signal);
  }

  /** Calls `end` when a limit is reached. @returns what stops the watch */
  watch(end: (reason: ConnectError) => void): () => void {
    const signal = this.#signal;
    const onAbort = (): void => end(cancellation(signal!));
    signal?.addEventListener("abort", onAbort, { once: true });
    const left = this.#endsAt === undefined ? undefined : Math.min(this.#endsAt - performance.now(), LONGEST_TIMER_MILLISECONDS);
    const timer =
      left === undefined ? undefined : setTimeout(() => end(new ConnectError("the operation timed out", Code.DeadlineExceeded)), left);
    return () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  }
}

function cancellation({ reason }: AbortSignal): ConnectError {
  return ConnectError.from(reason, Code.Canceled);
}

import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Caller } from "../domain/authenticator.ts";

/** So long what was revoked goes on to be accepted. */
const REMEMBER_MILLISECONDS = 1_000;
const MOST_REMEMBERED = 1_000;

interface Remembered {
  readonly caller: Promise<Caller>;
  readonly until: number;
}

/** Whose a secret is, asked for once a second. */
export class RememberedCallers {
  readonly #resolve: (sha256: string) => Promise<Caller>;
  /** By hash, in the order in which they were asked for. */
  readonly #remembered = new Map<string, Remembered>();

  /** @param resolve throws an HlvmError, `unauthenticated` where the secret is nobody's */
  constructor(resolve: (sha256: string) => Promise<Caller>) {
    this.#resolve = resolve;
  }

  of(sha256: string): Promise<Caller> {
    const now = performance.now();
    const known = this.#remembered.get(sha256);
    if (known !== undefined && known.until > now) return known.caller;
    const caller = this.#resolve(sha256);
    // What could not be told is asked again by the next.
    caller.catch((thrown: unknown) => {
      if (!(thrown instanceof HlvmError) || thrown.code !== "unauthenticated") this.#remembered.delete(sha256);
    });
    this.#remember(sha256, { caller, until: now + REMEMBER_MILLISECONDS });
    return caller;
  }

  /** What ends here is over here at once. */
  forget(sha256: string): void {
    this.#remembered.delete(sha256);
  }

  #remember(sha256: string, remembered: Remembered): void {
    this.#remembered.delete(sha256);
    for (const [oldest, { until }] of this.#remembered) {
      if (until > performance.now() && this.#remembered.size < MOST_REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
    this.#remembered.set(sha256, remembered);
  }
}

import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";

const FIRST_DELAY_MILLISECONDS = 100;
const MAXIMUM_DELAY_MILLISECONDS = 5_000;
/** Most connections are back before a person has read that they were lost. */
const UNNOTICED_MILLISECONDS = 1_000;
const LOST: ReadonlySet<Code> = new Set([Code.Unavailable, Code.Canceled, Code.Aborted, Code.DeadlineExceeded]);

export interface ReconnectionOptions {
  readonly signal: AbortSignal;
  /** Called once for each loss that lasts longer than a second. */
  readonly onLost: () => void;
  /** How long it goes on without contact. */
  readonly reconnectMilliseconds: number;
}

/**
 * The retry policy of a stream: exponential back-off from 100 ms to 5 s, each delay shortened at random by up to half, so
 * that many clients do not come back at the same moment, and for as long without contact as its setting says.
 */
export class Reconnection implements Disposable {
  readonly #options: ReconnectionOptions;
  #attempts = 0;
  #lostAt: number | undefined;
  #notice: NodeJS.Timeout | undefined;

  constructor(options: ReconnectionOptions) {
    this.#options = options;
  }

  /** The stream goes on: the next loss is a new one. */
  contact(): void {
    this.#attempts = 0;
    this.#lostAt = undefined;
    this.answered();
  }

  /** Somebody is there again; whether the stream goes on is not known yet. */
  answered(): void {
    clearTimeout(this.#notice);
    this.#notice = undefined;
  }

  /**
   * Waits until the next attempt is due.
   * @throws HlvmError the failure itself where it is an answer, `connection_lost` where there was no contact for too long, `cancelled`
   */
  async waitAfter(failure: unknown): Promise<void> {
    const { signal, reconnectMilliseconds } = this.#options;
    if (!signal.aborted && !isConnectionLost(failure)) throw fromConnectError(failure);
    this.#lostAt ??= performance.now();
    this.#notice ??= setTimeout(() => this.#options.onLost(), UNNOTICED_MILLISECONDS).unref();
    if (!signal.aborted && performance.now() - this.#lostAt >= reconnectMilliseconds) throw notResumed(failure, reconnectMilliseconds);
    const longest = Math.min(FIRST_DELAY_MILLISECONDS * 2 ** this.#attempts++, MAXIMUM_DELAY_MILLISECONDS);
    await delay(longest * (1 - Math.random() / 2), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw new HlvmError({ code: "cancelled", reason: "cancelled", message: "Cancelled.", cause: failure });
  }

  [Symbol.dispose](): void {
    this.answered();
  }
}

/**
 * Whether the call was cut, rather than answered with an error. A session of HTTP/2 that is destroyed shows as cancelled, a
 * stream that is cut between two messages as one whose end is missing; what a service answers always has details.
 */
function isConnectionLost(thrown: unknown): boolean {
  if (!(thrown instanceof ConnectError)) return false;
  if (LOST.has(thrown.code)) return true;
  if (thrown.details.length > 0) return false;
  if (thrown.code === Code.InvalidArgument) return true;
  return thrown.code === Code.Internal && /NGHTTP2|http\/2|premature/i.test(thrown.message);
}

function notResumed(failure: unknown, milliseconds: number): HlvmError {
  const cause = fromConnectError(failure);
  return new HlvmError({
    code: "unavailable",
    reason: "connection_lost",
    message: `The connection was lost, and could not be resumed within ${milliseconds / 1_000} s: ${cause.message}`,
    advice: `${cause.advice} The run may go on without you: \`hlvm session list\` names it, \`hlvm session watch\` shows it.`.trimStart(),
    cause,
  });
}

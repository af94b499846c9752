import { Code, ConnectError, type Client } from "@connectrpc/connect";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";

const LOOK_MILLISECONDS = 20_000;
const LOOK_DEADLINE_MILLISECONDS = 10_000;

export interface WatchStreamOptions {
  readonly sessionId: string;
  readonly from: bigint;
  readonly follow: boolean;
  readonly signal: AbortSignal;
  /** Called where a silent stream was found to be right: there is nothing that it should have brought. */
  readonly onAlive: () => void;
}

/**
 * One stream of a session's events. A stream may be silent for as long as a model thinks, so every 20 s of silence somebody
 * is asked how far the log is: where it is further than the stream, or nobody answers, the stream is given up.
 * @throws ConnectError `Unavailable` where it was given up
 */
export async function* watchStream(sessions: Client<typeof SessionService>, options: WatchStreamOptions): AsyncGenerator<Event, void> {
  const { sessionId, from, follow, onAlive } = options;
  const closing = new AbortController();
  const signal = AbortSignal.any([options.signal, closing.signal]);
  let next = from;
  let lookedAt = next;
  const look = async (): Promise<void> => {
    const isSilent = next === lookedAt;
    lookedAt = next;
    if (!isSilent) return;
    try {
      const { session } = await sessions.getSession({ sessionId }, { signal, timeoutMs: LOOK_DEADLINE_MILLISECONDS });
      if (next !== lookedAt) return;
      if (session === undefined || session.lastSequence < next) onAlive();
      else closing.abort(new ConnectError("the stream is silent, and there are events", Code.Unavailable));
    } catch (thrown) {
      closing.abort(thrown);
    }
  };
  const timer = setInterval(() => void look(), LOOK_MILLISECONDS);
  try {
    const responses = sessions.watch({ sessionId, fromSequence: from, follow }, { signal, timeoutMs: 0 })[Symbol.asyncIterator]();
    for (;;) {
      const { value, done } = await orAborted(responses.next(), signal);
      if (done === true) return;
      for (const event of value.events) {
        next = event.sequence + 1n;
        yield event;
      }
    }
  } finally {
    clearInterval(timer);
    closing.abort();
  }
}

/** A stream that is given up may be one that does not even notice that it was cancelled. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(ConnectError.from(signal.reason, Code.Canceled));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

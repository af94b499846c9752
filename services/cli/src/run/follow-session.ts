import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, type Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { fromConnectError } from "@hlvm/rpc/from-connect-error";
import { readStream } from "@hlvm/rpc/read-stream";

const MAXIMUM_TRIES = 7;
const FIRST_DELAY_MILLISECONDS = 100;

export interface FollowOptions {
  readonly sessionId: string;
  /** The first sequence wanted. */
  readonly from: bigint;
  /** Go on with what is appended later, until the reader leaves; without it the events end with the log. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/**
 * A session's events in order, none twice. A connection that breaks is opened again at the first event that was not seen;
 * after seven tries in a row without an event, over some seven seconds, it gives up.
 * @throws HlvmError
 */
export async function* followSession(sessions: Client<typeof SessionService>, options: FollowOptions): AsyncGenerator<Event, void> {
  let next = options.from;
  let tries = 0;
  for (;;) {
    try {
      for await (const event of watchOnce(sessions, options, next)) {
        if (event.sequence < next) continue;
        next = event.sequence + 1n;
        tries = 0;
        yield event;
      }
      if (!options.follow) return;
      throw new ConnectError("The edge ended the stream of events.", Code.Unavailable);
    } catch (thrown) {
      if (options.signal.aborted) throw new HlvmError({ code: "cancelled", reason: "cancelled", message: "Cancelled.", cause: thrown });
      if (!isBrokenConnection(thrown) || ++tries >= MAXIMUM_TRIES) throw fromConnectError(thrown);
      await delay(FIRST_DELAY_MILLISECONDS * 2 ** (tries - 1), undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
}

async function* watchOnce(
  sessions: Client<typeof SessionService>,
  options: FollowOptions,
  fromSequence: bigint,
): AsyncGenerator<Event, void> {
  const { sessionId, follow } = options;
  const answers = readStream((signal) => sessions.watch({ sessionId, fromSequence, follow }, { signal, timeoutMs: 0 }), options.signal);
  for await (const { events } of answers) yield* events;
}

/** A session that was destroyed shows as cancelled, and one that was going away as refused; neither is an answer. */
function isBrokenConnection(thrown: unknown): boolean {
  if (!(thrown instanceof ConnectError)) return false;
  if (thrown.code === Code.Unavailable || thrown.code === Code.Canceled || thrown.code === Code.Aborted) return true;
  return thrown.code === Code.Internal && /NGHTTP2|http\/2/i.test(thrown.message);
}

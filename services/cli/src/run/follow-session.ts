import { Code, ConnectError, type Client } from "@connectrpc/connect";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Reconnection } from "./reconnection.ts";
import { watchStream } from "./watch-stream.ts";

const PROBE_DEADLINE_MILLISECONDS = 10_000;
const RECONNECT_MILLISECONDS = 60_000;
/** A stream that was open for so long was contact, though nothing happened in its session. */
const CONTACT_MILLISECONDS = 1_000;

export interface FollowOptions {
  readonly sessionId: string;
  /** The first sequence wanted. */
  readonly from: bigint;
  /** Go on with what is appended later, until the reader leaves; without it the events end with the log. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
  /** The connection is lost, for longer than a moment, and is being resumed. */
  readonly onLost: () => void;
  /** How long it is resumed; 60 s where nothing is given, longer than an edge that was killed mostly takes to be up again. */
  readonly reconnectMilliseconds?: number;
}

/**
 * A session's events in order, none twice and none missing: a connection that breaks or falls silent is opened again at the
 * first event that was not seen, as `Reconnection` has it.
 * @throws HlvmError
 */
export async function* followSession(sessions: Client<typeof SessionService>, options: FollowOptions): AsyncGenerator<Event, void> {
  const { sessionId, follow, signal } = options;
  using reconnection = new Reconnection({ reconnectMilliseconds: RECONNECT_MILLISECONDS, ...options });
  const onAlive = (): void => reconnection.contact();
  let next = options.from;
  for (let isResuming = false; ; isResuming = true) {
    let openedAt = Infinity;
    try {
      // A stream of events is silent until there is one, so whether anybody is there is asked first.
      if (isResuming) await sessions.getSession({ sessionId }, { signal, timeoutMs: PROBE_DEADLINE_MILLISECONDS });
      reconnection.answered();
      openedAt = performance.now();
      for await (const event of watchStream(sessions, { sessionId, from: next, follow, signal, onAlive })) {
        reconnection.contact();
        if (event.sequence < next) continue;
        next = event.sequence + 1n;
        yield event;
      }
      if (!follow) return;
      throw new ConnectError("The edge ended the stream of events.", Code.Unavailable);
    } catch (thrown) {
      if (performance.now() - openedAt >= CONTACT_MILLISECONDS) reconnection.contact();
      await reconnection.waitAfter(thrown);
    }
  }
}

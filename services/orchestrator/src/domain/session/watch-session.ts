import { setTimeout as sleep } from "node:timers/promises";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Principal } from "@hlvm/identity/principal";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { durationHistogram } from "@hlvm/telemetry/instrument";
import type { EventLog } from "../log/event-log.ts";
import { fitEvents } from "../log/fit-events.ts";
import type { LogWakeups } from "../log/log-wakeups.ts";
import { withholdMemory } from "../sharing/withhold-memory.ts";
import { requireSession } from "./require-session.ts";
import type { SessionStore } from "./session-store.ts";

/** So often the log is looked at without a wake-up: a lost notification costs a second, never an event. */
const LOOK_MILLISECONDS = 1_000;
/** So often who follows somebody else's session has to have the right to. */
const CHECK_MILLISECONDS = 5_000;
/** The least time between two pieces: a run that goes fast is not slowed by those who look on, and no screen shows more than 60 a second. */
const INTERVAL_MILLISECONDS = 16;

const recordLag = durationHistogram("hlvm.notify.lag", "How long it takes from an append until who follows the session is given it.");

export interface Watched {
  readonly principal: Principal;
  readonly sessionId: string;
  /** The first sequence wanted; 0 and 1 mean all. */
  readonly from: number;
  /** Go on with what is appended later. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export interface WatchPorts {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly wakeups: LogWakeups;
}

/**
 * A session's events in order, each once, in pieces: what is appended comes at once, or 16 ms after the piece before it.
 * Following ends when the caller goes, or with the one run of a stateless session.
 * @throws HlvmError `session_not_found`, `database_unreachable`
 */
export async function* watchSession(
  { principal, sessionId, from, follow, signal }: Watched,
  ports: WatchPorts,
): AsyncGenerator<readonly Event[], void> {
  const { stateless, runningRunId, owner } = await requireSession(ports.store, principal, sessionId, "read");
  let checkedAt = performance.now();
  const goesOn = follow && !(stateless && runningRunId === "");
  const subscription = ports.wakeups.subscribe(sessionId);
  let next = Math.max(1, from);
  let given: readonly Event[] | undefined;
  let isFollowing = false;
  let yieldedAt = -Infinity;
  try {
    for (;;) {
      const { events, hasMore } = given === undefined ? await ports.log.read(sessionId, next) : { events: given, hasMore: false };
      if (events.length > 0) {
        if (isFollowing) recordLag(Date.now() - timestampMs(events[0]!.at!));
        yieldedAt = performance.now();
        yield* fitEvents(withholdMemory(events, principal.id));
      }
      // Not their number: somebody may have removed entries by hand.
      next = Number(events.at(-1)?.sequence ?? next - 1) + 1;
      if (stateless && events.some(({ payload }) => payload.case === "runStopped")) return;
      given = undefined;
      // What was in the log before was not waited for.
      isFollowing = !hasMore;
      if (hasMore) continue;
      if (!goesOn) return;
      await subscription.wait(LOOK_MILLISECONDS, signal);
      if (owner !== principal.id && performance.now() - checkedAt > CHECK_MILLISECONDS) {
        await requireSession(ports.store, principal, sessionId, "read");
        checkedAt = performance.now();
      }
      const pause = yieldedAt + INTERVAL_MILLISECONDS - performance.now();
      if (pause > 0) await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
      given = subscription.take(next);
    }
  } finally {
    subscription.close();
  }
}

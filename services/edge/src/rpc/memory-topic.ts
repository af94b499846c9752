import { setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type CallOptions } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService, SessionState, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { MemoryRecallSchema, MemoryTopic } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { serverStream } from "@hlvm/transport/server-stream";
import type { Backend, Backends } from "./backends.ts";
import { passedOnError } from "./passed-on-error.ts";
import type { TopicData } from "./topic-reader.ts";

const NO_DEADLINE = 0;
/** A service that is away, or whose stream has ended, is asked again after this. Runs are looked at as often. */
const AGAIN_MILLISECONDS = 1_000;
const MOST_SESSIONS = 16;
/** Of a run that went on before anybody watched, its last events; later, as many as one second may bring. */
const EARLIER_EVENTS = 200;
const MOST_EVENTS = 1_000;

interface MemoryCalls {
  readonly backends: Backends;
  readonly signal: AbortSignal;
  /** For a call in the reader's name. */
  readonly options: (backend: Backend, milliseconds?: number) => CallOptions;
}

type Recall = MessageInitShape<typeof MemoryRecallSchema>;

/** Changes of facts as they are committed, and what runs that go on were reminded of, as far as the reader may see the one and the other. */
export async function* readMemoryTopic(topic: MemoryTopic, calls: MemoryCalls): AsyncGenerator<TopicData, void> {
  const leaving = new AbortController();
  const until = { ...calls, signal: AbortSignal.any([calls.signal, leaving.signal]) };
  const sources = [changes(topic, until), recalls(topic.filter?.project ?? "", until)];
  const following = new Map(sources.map((source) => [source, next(source)]));
  try {
    while (following.size > 0) {
      const { source, result } = await Promise.race(following.values());
      if (result.done === true) following.delete(source);
      else {
        following.set(source, next(source));
        yield result.value;
      }
    }
  } finally {
    leaving.abort();
    await Promise.allSettled(following.values());
  }
}

async function next<Value>(source: AsyncGenerator<Value, void>) {
  return { source, result: await source.next() };
}

async function* changes(
  { filter, cursor: from }: MemoryTopic,
  { backends, signal, options }: MemoryCalls,
): AsyncGenerator<TopicData, void> {
  const { memory } = backends;
  let cursor = from;
  let isCaughtUp = false;
  for (;;) {
    try {
      const callOptions = { ...options(memory, NO_DEADLINE), signal };
      for await (const answered of serverStream(memory.transport, MemoryService.method.watchFacts, { filter, cursor }, callOptions)) {
        cursor = answered.cursor;
        if (answered.changes.length > 0) yield { case: "memory", value: { changes: answered.changes, cursor } };
        if (!isCaughtUp) yield { case: "caughtUp", value: {} };
        isCaughtUp = true;
      }
    } catch (thrown) {
      throwUnlessAway(thrown, memory, signal);
    }
    await delay(AGAIN_MILLISECONDS, undefined, { signal });
  }
}

async function* recalls(workspace: string, { backends, signal, options }: MemoryCalls): AsyncGenerator<TopicData, void> {
  const { orchestrator } = backends;
  const client = createClient(SessionService, orchestrator.transport);
  const read = new Map<string, bigint>();
  const begun = new Date();
  let isFirst = true;
  for (;;) {
    try {
      // A run may begin and end between two looks.
      const which = isFirst ? { state: SessionState.RUNNING } : { since: timestampFromDate(begun) };
      const list = { ...which, workspace, withWorkers: true, limit: MOST_SESSIONS };
      const { sessions } = await client.listSessions(list, { ...options(orchestrator), signal });
      isFirst = false;
      for (const session of sessions) {
        const { sessionId, lastSequence } = session;
        const before = read.get(sessionId);
        if (lastSequence <= (before ?? 0n)) continue;
        const limit = before === undefined ? EARLIER_EVENTS : Math.min(Number(lastSequence - before), MOST_EVENTS);
        const page = { sessionId, before: lastSequence + 1n, limit, settled: true };
        const { events } = await client.readEvents(page, { ...options(orchestrator), signal });
        const recalls = recalledIn(events, session, { behind: before ?? 0n, begun });
        read.set(sessionId, lastSequence);
        if (recalls.length > 0) yield { case: "memory", value: { recalls } };
      }
      const listed = new Set(sessions.map(({ sessionId }) => sessionId));
      for (const sessionId of read.keys()) if (!listed.has(sessionId)) read.delete(sessionId);
    } catch (thrown) {
      throwUnlessAway(thrown, orchestrator, signal);
    }
    await delay(AGAIN_MILLISECONDS, undefined, { signal });
  }
}

interface NotTold {
  readonly behind: bigint;
  readonly begun: Date;
}

/** Of the run that goes on, and of those since the reader came; what was recalled for somebody else is told by its number. */
function recalledIn(events: readonly Event[], { sessionId, title, runningRunId }: Session, { behind, begun }: NotTold): Recall[] {
  return events.flatMap(({ payload, sequence, runId, at, principal }) => {
    if (payload.case !== "memoryActivity" || sequence <= behind) return [];
    if (runId !== runningRunId && (at === undefined || timestampDate(at) < begun)) return [];
    const { recalled, withheld, notice } = payload.value;
    if (recalled.length + withheld === 0 && notice === "") return [];
    return [{ sessionId, sequence, sessionTitle: title, at, principal, recalled, withheld, notice }];
  });
}

/** A session may be gone, or not to be seen any more, since it was listed. */
function throwUnlessAway(thrown: unknown, { name }: Backend, signal: AbortSignal): void {
  const error = fromConnectError(passedOnError(thrown, name, signal));
  if (error.code !== "unavailable" && error.code !== "not_found") throw error;
}

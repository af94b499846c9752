import { setTimeout as sleep } from "node:timers/promises";
import { eventPayload } from "@hlvm/service-orchestrator/src/domain/log/event-payload.ts";
import { watchSession } from "@hlvm/service-orchestrator/src/domain/session/watch-session.ts";
import { beginTestRun } from "@hlvm/service-orchestrator/src/testing/begin-test-run.ts";
import { startAppendReplicas, type AppendReplica } from "./append-replicas.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const WRITERS = [1, 8, 32];
/** Each has up to ten connections: more writers than that take turns, as runs do. */
const REPLICAS = 4;
const MILLISECONDS = 4_000;
const WARM_UP_MILLISECONDS = 500;
const payload = eventPayload("assistantMessage", { text: "x".repeat(300) });
const WATCHED_EVENTS = 300;
const WATCHED_PAUSE_MILLISECONDS = 30;
const ada = { organization: "local", id: "user:ada", roles: ["developer"] } as const;

/** Appends a second and what one takes, where the transaction notifies and where it does not; and how soon another replica sees one. */
export async function benchAppends(): Promise<void> {
  const commits: Record<string, string | number>[] = [];
  const seen: Record<string, string | number>[] = [];
  for (const notifies of ["inside", "apart"] as const) {
    const { replicas, stop } = await startAppendReplicas(REPLICAS, notifies);
    const what = notifies === "inside" ? "NOTIFY in the append's transaction" : "NOTIFY apart, as it is";
    try {
      for (const writers of WRITERS) {
        const { times, seconds } = await append(replicas, writers);
        commits.push({
          what,
          writers,
          "commits/s": Math.round(times.length / seconds),
          "p50 ms": quantile(times, 0.5),
          "p99 ms": quantile(times, 0.99),
        });
      }
      for (const writers of [0, 8]) {
        const delays = await watch(replicas, writers);
        seen.push({ what, "writers beside it": writers, "p50 ms": quantile(delays, 0.5), "p99 ms": quantile(delays, 0.99), limit: 25 });
      }
    } finally {
      await stop();
    }
  }
  printTable(`Appends of one event with 300 characters, ${REPLICAS} replicas, ${MILLISECONDS / 1_000} s each`, commits);
  printTable(`From the commit until a watcher of another replica has the event, ${WATCHED_EVENTS} events`, seen);
}

async function append(replicas: readonly AppendReplica[], writers: number): Promise<{ times: number[]; seconds: number }> {
  const times: number[] = [];
  const measuredFrom = performance.now() + WARM_UP_MILLISECONDS;
  const end = measuredFrom + MILLISECONDS;
  const write = async (index: number): Promise<void> => {
    for await (const { beganAt, endedAt } of appends(replicas[index % REPLICAS]!))
      if (beganAt > end) return;
      else if (beganAt >= measuredFrom) times.push(endedAt - beganAt);
  };
  await Promise.all(Array.from({ length: writers }, (_, index) => write(index)));
  return { times, seconds: MILLISECONDS / 1_000 };
}

/** One run that appends without a pause, for as long as it is asked to. */
async function* appends({ store, log }: AppendReplica): AsyncGenerator<{ beganAt: number; endedAt: number }> {
  const lease = await beginTestRun(store);
  for (let position = 2; ; position++) {
    const beganAt = performance.now();
    await log.append({ lease, principal: ada.id, position, events: [{ turn: 1, payload }] });
    yield { beganAt, endedAt: performance.now() };
  }
}

/** How long after its commit a watcher of another replica had each event, while so many other runs append. */
async function watch(replicas: readonly AppendReplica[], writers: number): Promise<number[]> {
  const [writing, watching] = replicas as [AppendReplica, AppendReplica];
  const lease = await beginTestRun(writing.store);
  const controller = new AbortController();
  const others = Array.from({ length: writers }, async (_, index) => {
    for await (const _ of appends(replicas[index % REPLICAS]!)) if (controller.signal.aborted) return;
  });
  const watched = { principal: ada, sessionId: lease.sessionId, from: 1, follow: true, signal: controller.signal };
  const pieces = watchSession(watched, watching);
  await pieces.next();
  const delays: number[] = [];
  for (let position = 2; position < WATCHED_EVENTS + 2; position++) {
    await sleep(WATCHED_PAUSE_MILLISECONDS);
    const next = pieces.next();
    await writing.log.append({ lease, principal: ada.id, position, events: [{ turn: 1, payload }] });
    const committedAt = performance.now();
    await next;
    delays.push(performance.now() - committedAt);
  }
  controller.abort(new Error("seen"));
  await Promise.all([pieces.return(), ...others]);
  return delays;
}

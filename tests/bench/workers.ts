import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client } from "@connectrpc/connect";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createEdgeTransport } from "@hlvm/service-cli/src/mesh/create-edge-transport.ts";
import { followSession } from "@hlvm/service-cli/src/run/follow-session.ts";
import { createWorkspace, startTestMesh } from "../e2e/test-mesh.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const WORKERS = 20;
const TURNS = 5;
const ROUNDS = 10;
const THINKING_MILLISECONDS = 1_000;
/** By so much each agent thinks longer than the one before, so that workers, which begin together, are no more in step than runs. */
const STAGGER_MILLISECONDS = 47;
const RUN_DEADLINE_MILLISECONDS = 5 * 60 * 1_000;

const thinking = (index: number): number => THINKING_MILLISECONDS + index * STAGGER_MILLISECONDS;
const nameOf = (index: number): string => `work ${String(index).padStart(2, "0")}`;
const work = Array.from({ length: WORKERS }, (_, index) => {
  const delayMilliseconds = thinking(index);
  const called = Array.from({ length: TURNS }, (_turn, turn) => ({
    delayMilliseconds,
    toolCalls: [{ tool: "memory_search", arguments: { query: `deploy ${turn}` } }],
  }));
  return { match: nameOf(index), turns: [...called, { delayMilliseconds, text: "Done." }] };
});
const spawned = Array.from({ length: WORKERS }, (_, index) => ({
  tool: "spawn_worker",
  arguments: { profile: "general-purpose", task: nameOf(index) },
}));
const lead = { match: "lead", turns: [{ toolCalls: spawned }, { text: "Done." }] };

/**
 * A tool turn of 20 workers of one run beside that of 20 runs of their own, in turn within the same minute: the same model, the same
 * calls, as many at once. What is left between them is what it costs to be a worker.
 */
export async function benchWorkers(): Promise<void> {
  const folder = await createWorkspace({ "script.json": JSON.stringify({ conversations: [lead, ...work] }) });
  const mesh = await startTestMesh({
    HLVM_SCRIPT_FILE: join(folder, "script.json"),
    HLVM_MODEL: "scripted/script",
    HLVM_MAXIMUM_TURNS: "1000",
    HLVM_MAXIMUM_WORKERS: String(WORKERS),
  });
  try {
    const token = readFileSync(mesh.state.tokenFile, "utf8").trim();
    const sessions = createClient(SessionService, createEdgeTransport(mesh.state.edgeUrl, token));
    const [runs, workers, ratios]: [number[], number[], number[]] = [[], [], []];
    const ends: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const asRuns = await timesOfRuns(sessions, folder, round);
      const { times: asWorkers, lasted } = await timesOfWorkers(sessions, join(folder, `lead-${round}`));
      // The first round compiles the code and opens the connections.
      if (round === 0) continue;
      runs.push(...asRuns);
      workers.push(...asWorkers);
      ends.push(lasted);
      ratios.push(quantile(asWorkers, 0.5) / quantile(asRuns, 0.5) - 1);
    }
    const row = (what: string, times: readonly number[]) => ({
      what,
      turns: times.length,
      p50: quantile(times, 0.5),
      p95: quantile(times, 0.95),
      max: quantile(times, 1),
    });
    printTable(`Tool turns without their model, ${WORKERS} agents at once, ${ROUNDS} rounds, milliseconds`, [
      row(`${WORKERS} runs of their own`, runs),
      row(`${WORKERS} workers of one run`, workers),
    ]);
    printTable("", [
      { what: "added to a tool turn, percent, median of the rounds' medians", measured: 100 * quantile(ratios, 0.5), limit: "< 5" },
      { what: "the parent's whole run, without the model of its workers, s", measured: quantile(ends, 0.5) / 1_000, limit: "" },
    ]);
    console.log(`\nof each round: ${ratios.map((ratio) => `${(100 * ratio).toFixed(1)} %`).join(", ")}`);
  } finally {
    await mesh.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timesOfRuns(sessions: Client<typeof SessionService>, folder: string, round: number): Promise<number[]> {
  const all = Array.from({ length: WORKERS }, async (_, index) => {
    const { times } = await finish(sessions, await start(sessions, nameOf(index), join(folder, `run-${round}-${index}`)));
    return times;
  });
  return (await Promise.all(all)).flat();
}

async function timesOfWorkers(sessions: Client<typeof SessionService>, path: string): Promise<{ times: number[]; lasted: number }> {
  const { events, lasted } = await finish(sessions, await start(sessions, "lead", path));
  const ids = events.flatMap(({ payload }) =>
    payload.case === "workerCompleted" && payload.value.success ? [payload.value.childSessionId] : [],
  );
  if (ids.length !== WORKERS) throw new Error(`${ids.length} of ${WORKERS} workers came to their end`);
  const all = await Promise.all(ids.map((id) => finish(sessions, id)));
  return { times: all.flatMap(({ times }) => times), lasted: lasted - thinking(WORKERS - 1) * (TURNS + 1) };
}

async function start(sessions: Client<typeof SessionService>, prompt: string, path: string): Promise<string> {
  mkdirSync(path);
  const settings = { mode: PermissionMode.BYPASS_PERMISSIONS, canAsk: false };
  return (await sessions.startRun({ prompt, workspace: path, settings }, { timeoutMs: RUN_DEADLINE_MILLISECONDS })).sessionId;
}

async function finish(sessions: Client<typeof SessionService>, sessionId: string) {
  const signal = AbortSignal.timeout(RUN_DEADLINE_MILLISECONDS);
  const events: Event[] = [];
  const times: number[] = [];
  let task = "";
  for await (const event of followSession(sessions, { sessionId, from: 1n, follow: true, signal, onLost: () => {} })) {
    events.push(event);
    const { case: type, value } = event.payload;
    if (type === "userMessage") task = value.text;
    if (type === "turnStats" && value.toolCount > 0) times.push(value.durationMilliseconds - thinking(Number(/\d+/.exec(task)?.[0] ?? 0)));
    if (type !== "runStopped") continue;
    if (value.reason !== StopReason.COMPLETED) throw new Error(`a run ended early: ${value.message}`);
    return { events, times, lasted: value.durationMilliseconds };
  }
  throw new Error("the events of a run ended before it did");
}

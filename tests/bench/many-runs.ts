import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { messageOf } from "@hlvm/errors/message-of";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type RunStopped } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createEdgeTransport } from "@hlvm/service-cli/src/mesh/create-edge-transport.ts";
import { followSession } from "@hlvm/service-cli/src/run/follow-session.ts";
import { createWorkspace, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { eventKey, keepCommitTimes, readCommitTimes } from "./commit-times.ts";
import { cpuMilliseconds, peakMemoryMegabytes } from "./part-usage.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const THINKING_MILLISECONDS = 2_000;
const START_DEADLINE_MILLISECONDS = 120_000;
const RUN_DEADLINE_MILLISECONDS = 10 * 60 * 1_000;
/** By what a turn calls; `memory_search` costs least, since it needs no process of its own. */
const CALLS: Readonly<Record<string, (turn: number) => object>> = {
  memory_search: (turn) => ({ query: `deploy ${turn}` }),
  read_file: (turn) => ({ path: "README.md", start_line: turn }),
  shell_exec: (turn) => ({ command: `echo ${turn}` }),
};

export interface ManyRunsOptions {
  readonly runs: number;
  /** Of which each calls a tool once; the answer is one more. */
  readonly turns: number;
  readonly tool: string;
}

interface WatchedRun {
  /** Empty where it came to its end with all of its calls. */
  readonly fault: string;
  /** Of its turns with a call, without what the model takes. */
  readonly turns: readonly number[];
  /** Of the whole run, for each turn, without what the model takes. */
  readonly perTurn: number;
  /** When each event was seen, in milliseconds since 1970, by session and sequence. */
  readonly seen: ReadonlyMap<string, number>;
}

/**
 * Runs that all begin at once, each watched over a connection of its own through the edge, with a model that thinks for two
 * seconds. A turn's own time is what the orchestrator writes into `turn_stats`, less those two seconds.
 */
export async function benchManyRuns(options: ManyRunsOptions): Promise<void> {
  const { runs, turns, tool } = options;
  const call = CALLS[tool];
  if (call === undefined) throw new Error(`--tool is one of ${Object.keys(CALLS).join(", ")}`);
  const called = Array.from({ length: turns }, (_, turn) => ({
    delayMilliseconds: THINKING_MILLISECONDS,
    toolCalls: [{ tool, arguments: call(turn + 1) }],
  }));
  const scripted = { match: "", turns: [...called, { delayMilliseconds: THINKING_MILLISECONDS, text: "Done." }] };
  const folder = await createWorkspace({ "script.json": JSON.stringify({ conversations: [scripted] }) });
  const mesh = await startTestMesh({ HLVM_SCRIPT_FILE: join(folder, "script.json"), HLVM_MODEL: "scripted/script" });
  try {
    await keepCommitTimes(mesh);
    // Its code is compiled then, and its connections are open.
    await Promise.all(Array.from({ length: 8 }, (_, index) => watchRun(mesh, workspace(folder, `warm-${index}`), options)));
    const parts = readMeshState(mesh.directory)!.services.flatMap(({ name, pid }) => (pid === undefined ? [] : [{ name, pid }]));
    const cpuBefore = parts.map(({ pid }) => cpuMilliseconds(pid));
    const ownBefore = process.cpuUsage();
    const began = performance.now();
    const watched = await Promise.all(
      Array.from({ length: runs }, (_, index) => watchRun(mesh, workspace(folder, `run-${index}`), options)),
    );
    const seconds = (performance.now() - began) / 1_000;
    const cpu = parts.map(({ name, pid }, index) => ({ name, used: cpuMilliseconds(pid) - cpuBefore[index]! }));
    const own = process.cpuUsage(ownBefore);
    cpu.push({ name: "this bench", used: (own.user + own.system) / 1_000 });
    const lags = await lagsOf(mesh, watched);
    const memory = parts.filter(({ name }) => name.startsWith("orchestrator")).map(({ pid }) => peakMemoryMegabytes(pid));

    const times = watched.flatMap((run) => run.turns);
    const whole = watched.filter(({ fault }) => fault === "").map(({ perTurn }) => perTurn);
    const faults = watched.flatMap(({ fault }) => (fault === "" ? [] : [fault]));
    printTable(`${runs} runs at once, ${turns} turns with ${tool} and an answer each, in ${seconds.toFixed(1)} s`, [
      { what: "a turn without its model, ms", ...quantiles(times), limit: "p95 < 500" },
      { what: "the same, mean of a whole run, ms", ...quantiles(whole), limit: "" },
      { what: "commit until a watcher sees it, ms", ...quantiles(lags), limit: "p99 < 25" },
    ]);
    printTable("", [
      { what: "most memory of an orchestrator, MB", measured: Math.max(...memory), limit: "< 600" },
      { what: "runs refused, failed or incomplete", measured: faults.length, limit: "0" },
    ]);
    const turnCount = runs * (turns + 1);
    printTable(
      "Processor time, everything below a part included",
      cpu.map(({ name, used }) => ({ part: name, "ms a turn": used / turnCount, "cores busy": used / 1_000 / seconds })),
    );
    for (const fault of new Set(faults)) console.log(fault);
  } finally {
    await mesh.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function workspace(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

async function watchRun(mesh: TestMesh, path: string, { turns }: ManyRunsOptions): Promise<WatchedRun> {
  const sessions = createClient(SessionService, createEdgeTransport(mesh.state.edgeUrl, readFileSync(mesh.state.tokenFile, "utf8").trim()));
  const times: number[] = [];
  const seen = new Map<string, number>();
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, AbortSignal.timeout(RUN_DEADLINE_MILLISECONDS)]);
  try {
    const settings = { mode: PermissionMode.BYPASS_PERMISSIONS, canAsk: false };
    const request = { prompt: "Go on.", workspace: path, settings };
    const { sessionId } = await sessions.startRun(request, { signal, timeoutMs: START_DEADLINE_MILLISECONDS });
    for await (const event of followSession(sessions, { sessionId, from: 1n, follow: true, signal, onLost: () => {} })) {
      seen.set(eventKey(sessionId, event.sequence), Date.now());
      const { case: type, value } = event.payload;
      if (type === "turnStats" && value.toolCount > 0) times.push(value.durationMilliseconds - THINKING_MILLISECONDS);
      if (type !== "runStopped") continue;
      const thought = THINKING_MILLISECONDS * (turns + 1);
      return { fault: faultOf(value, turns), turns: times, perTurn: (value.durationMilliseconds - thought) / (turns + 1), seen };
    }
    throw new Error("its events ended before it did");
  } catch (thrown) {
    return { fault: messageOf(thrown), turns: times, perTurn: 0, seen };
  } finally {
    left.abort();
  }
}

function faultOf(stopped: RunStopped, turns: number): string {
  if (stopped.reason === StopReason.COMPLETED && stopped.toolCalls === turns) return "";
  return `stop reason ${stopped.reason} after ${stopped.toolCalls} of ${turns} calls: ${stopped.message}`;
}

/** Dates count whole milliseconds: what is seen within one counts as seen at its end. */
async function lagsOf(mesh: TestMesh, watched: readonly WatchedRun[]): Promise<number[]> {
  const committed = await readCommitTimes(mesh);
  return watched.flatMap(({ seen }) => [...seen].map(([key, at]) => at + 1 - committed.get(key)!));
}

function quantiles(some: readonly number[]): { count: number; p50: number; p95: number; p99: number; max: number } {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(some, share)) as [number, number, number];
  return { count: some.length, p50, p95, p99, max: quantile(some, 1) };
}

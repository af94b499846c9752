import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type Client } from "@connectrpc/connect";
import pLimit from "p-limit";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { ApprovalAnswer, PermissionMode, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createEdgeTransport } from "@hlvm/service-cli/src/mesh/create-edge-transport.ts";
import { withMeshDatabase } from "../e2e/mesh-database.ts";
import { createWorkspace, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { peakMemoryMegabytes, residentMegabytes } from "./part-usage.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const AT_ONCE = 32;
const START_DEADLINE_MILLISECONDS = 120_000;
const POLL_MILLISECONDS = 500;
const ANSWERED = 100;
const PARK_SECONDS = 2;
/** For what a busy process still has to do when its last run is parked. */
const SETTLE_MILLISECONDS = 10_000;

interface WaitingRun {
  readonly sessionId: string;
  readonly runId: string;
  readonly sequence: bigint;
}

/** Runs that all wait for a person: what they cost the orchestrator, and how soon one goes on when it is answered. */
export async function benchWaiting(runs: number): Promise<void> {
  const workspace = await createWorkspace({ "a.txt": "a\n" });
  const mesh = await startTestMesh({ HLVM_PARK_SECONDS: String(PARK_SECONDS), HLVM_APPROVAL_SECONDS: "86400", HLVM_RUN_SECONDS: "86400" });
  try {
    const transport = createEdgeTransport(mesh.state.edgeUrl, readFileSync(mesh.state.tokenFile, "utf8").trim());
    const sessions = createClient(SessionService, transport);
    const policy = createClient(PolicyService, transport);
    const settings = { mode: PermissionMode.DEFAULT, canAsk: true };
    const limit = pLimit(AT_ONCE);
    const start = (): Promise<WaitingRun> =>
      limit(() => sessions.startRun({ prompt: "run touch waited", workspace, settings }, { timeoutMs: START_DEADLINE_MILLISECONDS }));
    await untilParked(mesh, (await Promise.all(Array.from({ length: AT_ONCE }, start))).length);
    const before = await settledMegabytes(mesh);
    const began = performance.now();
    const waiting = await Promise.all(Array.from({ length: runs }, start));
    await untilParked(mesh, AT_ONCE + runs);
    const seconds = (performance.now() - began) / 1_000;
    const held = await settledMegabytes(mesh);
    const peak = peakMemoryMegabytes(orchestratorOf(mesh));
    const times: number[] = [];
    for (const run of sample(waiting)) times.push(await answerAndWatch(run, sessions, policy));
    printTable(`${runs} runs that wait for a person, begun and parked in ${seconds.toFixed(0)} s`, [
      { what: "memory of the orchestrator before, MB", measured: before, limit: "" },
      { what: "with all of them, MB", measured: held, limit: "" },
      { what: "more by, MB", measured: held - before, limit: "< 100" },
      { what: "most while they began, MB", measured: peak, limit: "" },
      { what: "answer until the run goes on, p50, ms", measured: quantile(times, 0.5), limit: "" },
      { what: "the same, p95, ms", measured: quantile(times, 0.95), limit: "< 1000" },
      { what: "the same, max, ms", measured: quantile(times, 1), limit: "" },
    ]);
  } finally {
    await mesh.stop();
    rmSync(workspace, { recursive: true, force: true });
  }
}

function orchestratorOf(mesh: TestMesh): number {
  return readMeshState(mesh.directory)!.services.find(({ name }) => name === "orchestrator")!.pid!;
}

/** What the orchestrator has resident while it is idle, without what it no longer needs. */
async function settledMegabytes(mesh: TestMesh): Promise<number> {
  await sleep(SETTLE_MILLISECONDS);
  await collectGarbage(orchestratorOf(mesh));
  await sleep(SETTLE_MILLISECONDS);
  return residentMegabytes(orchestratorOf(mesh));
}

async function untilParked(mesh: TestMesh, runs: number): Promise<void> {
  const sql = "SELECT FROM run WHERE ended_at IS NULL AND parked_until > now()";
  while ((await withMeshDatabase(mesh, (database) => database.query(sql))).length < runs) await sleep(POLL_MILLISECONDS);
}

function sample(waiting: readonly WaitingRun[]): WaitingRun[] {
  const step = Math.max(1, Math.floor(waiting.length / ANSWERED));
  return waiting.filter((_, index) => index % step === 0).slice(0, ANSWERED);
}

/** From the answer, as policy has confirmed it, until a watcher is told that its call was let through. */
async function answerAndWatch(
  { sessionId, sequence }: WaitingRun,
  sessions: Client<typeof SessionService>,
  policy: Client<typeof PolicyService>,
): Promise<number> {
  const left = new AbortController();
  const goesOn = (async () => {
    for await (const { events } of sessions.watch(
      { sessionId, fromSequence: sequence, follow: true },
      { signal: left.signal, timeoutMs: 60_000 },
    ))
      if (events.some(({ payload }) => payload.case === "toolStart")) return performance.now();
    throw new Error("the session's log ended");
  })();
  const [approval] = (await policy.listApprovals({ sessionId })).approvals;
  await policy.answerApproval({ approvalId: approval!.approvalId, answer: ApprovalAnswer.ONCE });
  const answeredAt = performance.now();
  const took = (await goesOn) - answeredAt;
  left.abort();
  return Math.max(0, took);
}

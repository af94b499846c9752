import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { ApprovalAnswer, PermissionMode, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createEdgeTransport } from "@hlvm/service-cli/src/mesh/create-edge-transport.ts";
import { followSession } from "@hlvm/service-cli/src/run/follow-session.ts";
import { withMeshDatabase } from "../e2e/mesh-database.ts";
import { createWorkspace, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  mesh = await startTestMesh({ HLVM_PARK_SECONDS: "1" });
  workspace = await createWorkspace({ "a.txt": "a\n" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const parkedRuns = () =>
  withMeshDatabase(mesh, (database) => database.query("SELECT FROM run WHERE ended_at IS NULL AND parked_until > now()"));

it("goes on with a run at its answer that nobody held, over the end of every service", { timeout: 60_000 }, async () => {
  const transport = createEdgeTransport(mesh.state.edgeUrl, readFileSync(mesh.state.tokenFile, "utf8").trim());
  const sessions = createClient(SessionService, transport);
  const policy = createClient(PolicyService, transport);
  const settings = { mode: PermissionMode.DEFAULT, canAsk: true };
  const { sessionId } = await sessions.startRun({ prompt: "run touch answered", workspace, settings });
  const events: Event[] = [];
  const ended = (async () => {
    for await (const event of followSession(sessions, {
      sessionId,
      from: 1n,
      follow: true,
      signal: AbortSignal.timeout(60_000),
      onLost: () => {},
    })) {
      events.push(event);
      if (event.payload.case === "runStopped") return event.payload.value;
    }
    return undefined;
  })();
  await expect.poll(parkedRuns, { timeout: 20_000 }).toHaveLength(1);

  for (const { name, pid } of readMeshState(mesh.directory)!.services)
    if (pid !== undefined && /^(orchestrator|policy|sandbox)/.test(name)) process.kill(pid, "SIGKILL");
  const answer = async (): Promise<number> => {
    const { approvals } = await policy.listApprovals({ sessionId });
    for (const { approvalId } of approvals) await policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE });
    return approvals.length;
  };
  await expect.poll(() => answer().catch(() => 0), { timeout: 20_000 }).toBe(1);

  expect(await ended).toMatchObject({ reason: StopReason.COMPLETED, toolCalls: 1 });
  expect(existsSync(join(workspace, "answered"))).toBe(true);
  const cases = events.map(({ payload }) => payload.case);
  expect(cases.filter((one) => one === "toolStart" || one === "toolEnd")).toEqual(["toolStart", "toolEnd"]);
  expect(cases).not.toContain("runTakenOver");
});

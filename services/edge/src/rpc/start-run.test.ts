import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { PermissionMode, PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService, type StartRunRequest, type UndoToTurnRequest } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { meshWithSessions } from "../testing/mesh-with-sessions.ts";
import { AUTHORIZATION, TEAMS, type TestMesh } from "../testing/test-mesh.ts";

const SESSION = "7b1f6f0e-0d58-4d4e-9d0a-000000000001";
const RUN = "7b1f6f0e-0d58-4d4e-9d0a-000000000002";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LOCAL_USER = { organization: "local", id: "user:ada", roles: ["developer", "approver", "admin", "security-auditor"] };
const settings = create(PermissionSettingsSchema, {
  mode: PermissionMode.PLAN,
  allowedTools: ["read_file", "git_*"],
  disallowedTools: ["shell_exec"],
  canAsk: true,
});

async function edgeThatStarts(): Promise<{ mesh: TestMesh; started: StartRunRequest[] }> {
  const started: StartRunRequest[] = [];
  const mesh = await meshWithSessions({
    startRun: (request, context) => {
      expect(callContext(context).delegation).toBeUndefined();
      started.push(request);
      return { sessionId: SESSION, runId: RUN, sequence: 1n };
    },
  });
  return { mesh, started };
}

const clientOf = (mesh: TestMesh) => createClient(SessionService, createMeshTransport(mesh.url, []));

describe("UndoToTurn at the edge", () => {
  it("signs who asks and for which session, whatever a client sends in its place", async () => {
    const undone: UndoToTurnRequest[] = [];
    const mesh = await meshWithSessions({
      undoToTurn: (request) => {
        undone.push(request);
        return { pathCount: 1 };
      },
    });
    const asked = { sessionId: SESSION, toTurn: 2, runId: RUN, delegation: "of my own" };
    expect(await clientOf(mesh).undoToTurn(asked, { headers: AUTHORIZATION })).toMatchObject({ pathCount: 1 });
    const { runId, delegation, toTurn } = undone[0]!;
    expect([toTurn, runId === RUN]).toEqual([2, false]);
    const signed = { principal: LOCAL_USER, sessionId: SESSION, runId, settings: { mode: PermissionMode.UNSPECIFIED, canAsk: false } };
    expect(mesh.delegations.verify(delegation)).toMatchObject(signed);
  });
});

describe("StartRun at the edge", () => {
  it("chooses the ids and signs for them who asks and what they set, exactly", async () => {
    const { mesh, started } = await edgeThatStarts();
    await clientOf(mesh).startRun({ prompt: "q", workspace: "/w", settings }, { headers: AUTHORIZATION });
    const { newSessionId, runId, delegation } = started[0]!;
    expect([newSessionId, runId]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(mesh.delegations.verify(delegation)).toMatchObject({
      principal: { ...LOCAL_USER, teams: TEAMS },
      sessionId: newSessionId,
      runId,
      settings,
      authorizedParty: "orchestrator",
    });
  });

  it("makes no session where one is gone on with", async () => {
    const { mesh, started } = await edgeThatStarts();
    await clientOf(mesh).startRun({ sessionId: SESSION, prompt: "q", settings }, { headers: AUTHORIZATION });
    expect(started[0]).toMatchObject({ sessionId: SESSION, newSessionId: "" });
    expect(mesh.delegations.verify(started[0]!.delegation).sessionId).toBe(SESSION);
  });

  it("takes the id of a session whose workspace was prepared, for a new session only", async () => {
    const { mesh, started } = await edgeThatStarts();
    const asked = { prompt: "q", settings, preparedSessionId: SESSION };
    await clientOf(mesh).startRun(asked, { headers: AUTHORIZATION });
    await clientOf(mesh).startRun({ ...asked, sessionId: RUN }, { headers: AUTHORIZATION });
    expect(started.map(({ newSessionId }) => newSessionId)).toEqual([SESSION, ""]);
    expect(started.map(({ delegation }) => mesh.delegations.verify(delegation).sessionId)).toEqual([SESSION, RUN]);
  });

  it("overwrites what a client sends in the place of its own", async () => {
    const { mesh, started } = await edgeThatStarts();
    const sent = { newSessionId: SESSION, runId: RUN, delegation: "of my own" };
    const asked = { prompt: "q", workspace: "/w", settings, ...sent };
    await clientOf(mesh).startRun(asked, { headers: AUTHORIZATION });
    await clientOf(mesh).startRun({ ...asked, sessionId: SESSION }, { headers: AUTHORIZATION });
    for (const { newSessionId, runId, delegation } of started) {
      expect(newSessionId).not.toBe(SESSION);
      expect(runId).not.toBe(RUN);
      expect(mesh.delegations.verify(delegation).runId).toBe(runId);
    }
    expect(new Set(started.map(({ runId }) => runId)).size).toBe(2);
  });

  it("is the same for a question over plain HTTP", async () => {
    const { mesh, started } = await edgeThatStarts();
    const body = { messages: [{ role: "user", content: "Why?" }], workspace: "/w", permission_mode: "plan", allowed_tools: ["read_file"] };
    const response = await fetch(`${mesh.url}/api/chat`, { method: "POST", headers: AUTHORIZATION, body: JSON.stringify(body) });
    await response.text();
    const { newSessionId, runId, delegation } = started[0]!;
    expect(mesh.delegations.verify(delegation)).toMatchObject({
      principal: LOCAL_USER,
      sessionId: newSessionId,
      runId,
      settings: { mode: PermissionMode.PLAN, allowedTools: ["read_file"], disallowedTools: [], canAsk: true },
    });
  });
});

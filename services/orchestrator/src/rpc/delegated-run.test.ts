import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { valuesOf } from "../testing/event-values.ts";
import { pauseModel } from "../testing/pause-model.ts";
import { readCall } from "../testing/read-call.ts";
import { ada, type RunRequest } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const settings = { mode: PermissionMode.PLAN, canAsk: true, allowedTools: ["git_*"] };
const bob: Principal = { ...ada, id: "user:bob" };
const test = useTestOrchestrator();

const start = async (request: RunRequest, principal = ada) =>
  test.orchestrator.client.startRun(request, await test.orchestrator.as(principal));
const asked = (principal = ada): RunRequest => test.asEdge({ prompt: "q", workspace: "/work", settings }, principal);

describe("a run", () => {
  it("has the ids and settings that the edge signed, and calls nobody without what it signed", async () => {
    test.answers(["", [readCall("a")]], ["Done."]);
    const request = asked();
    const { sessionId, runId, sequence } = await start({ ...request, settings: { mode: PermissionMode.BYPASS_PERMISSIONS } });
    expect([sessionId, runId]).toEqual([request.newSessionId, request.runId]);
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStarted")).toMatchObject([{ settings }]);
    expect([...test.fake.seen.runs]).toEqual([runId]);
    expect(test.fake.seen.decided[0]!.settings).toBeUndefined();
  });

  it("keeps what the edge signed for whoever holds it, until it has ended", async () => {
    const release = pauseModel(test.fake.behaviour);
    const request = asked();
    const { sessionId, runId, sequence } = await start(request);
    const kept = () => test.database.query("SELECT delegation FROM run WHERE run_id = $1", [runId]);
    expect(await kept()).toEqual([{ delegation: request.delegation }]);
    release();
    await test.watch(sessionId, sequence);
    expect(await kept()).toEqual([{ delegation: null }]);
  });

  const misfits: Record<string, () => [RunRequest, Principal]> = {
    "of another person": () => [asked(bob), ada],
    "of another person for whom it is sent": () => [{ ...asked(), delegation: asked(bob).delegation }, ada],
    "of other roles": () => [asked({ ...ada, roles: ["developer", "admin"] }), ada],
    "of another run": () => [{ ...asked(), runId: randomUUID() }, ada],
    "of another new session": () => [{ ...asked(), newSessionId: randomUUID() }, ada],
    "of a new session where one is gone on with": () => [{ ...asked(), sessionId: randomUUID(), newSessionId: "" }, ada],
  };

  it.each(Object.entries(misfits))("is not started with a delegation %s", async (_whose, made) => {
    await expect(start(...made())).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining("The delegation is of another"),
    });
    expect(test.fake.seen.opened).toEqual([]);
  });

  it("is not started without a delegation, nor with one that somebody made up", async () => {
    const [header, , signature] = String(asked().delegation).split(".");
    const claims = Buffer.from(JSON.stringify({ sub: ada.id })).toString("base64url");
    for (const delegation of ["", "x.y.z", `${header}.${claims}.${signature}`])
      await expect(start({ ...asked(), delegation })).rejects.toMatchObject({ code: Code.Unauthenticated });
  });

  it("is started once: the same request again leaves the run and its workspace alone", async () => {
    const release = pauseModel(test.fake.behaviour);
    const request = asked();
    const { sessionId, sequence } = await start(request);
    await expect(start(request)).rejects.toMatchObject({ code: Code.FailedPrecondition });
    expect([...test.fake.bound]).toEqual([[sessionId, "/work"]]);
    release();
    await test.watch(sessionId, sequence);
  });
});

import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind, OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada" };
const read = (path: string): Asked => ({ tool: "read_file", arguments: { path } });

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

/** A run whose calls are decided over its stream, each with what came of earlier ones. */
function newRun(principal = person) {
  const ids = { sessionId: randomUUID(), runId: randomUUID() };
  const settings = settingsOf({ mode: PermissionMode.DEFAULT });
  const client = createClient(RunPolicyService, createMeshTransport(service.url));
  const ended = (callId: string, change: object = {}) => ({
    ...ids,
    callId,
    status: OutcomeStatus.SUCCEEDED,
    summary: "2 lines",
    durationMilliseconds: 7,
    ...change,
  });
  async function decide(asked: Asked, endedCalls: readonly ReturnType<typeof ended>[] = []) {
    const call = callOf({ ...ids, ...asked });
    async function* requests() {
      yield {
        head: { id: 1, timeoutMilliseconds: 10_000 },
        request: { case: "decide" as const, value: { call } },
        endedCalls: [...endedCalls],
      };
    }
    for await (const { response, recordedCallIds } of client.streamCalls(requests(), service.forRun({ principal, ...ids, settings }))) {
      if (response.case !== "decide") throw new Error(`not a decision: ${JSON.stringify(response.value)}`);
      return { callId: call.callId, decision: response.value.verdict!.decision, recordedCallIds };
    }
    throw new Error("no answer");
  }
  const outcomes = async () =>
    (await service.audit.query({ sessionId: ids.sessionId, kind: AuditKind.OUTCOME }, service.as(testPrincipal))).events;
  return { decide, ended, outcomes, ids };
}

describe("outcomes that come with a decision", () => {
  it("are on record with it, before it in the log, once", async () => {
    const run = newRun();
    const first = await run.decide(read("a"));
    const second = await run.decide(read("b"), [run.ended(first.callId)]);
    expect(second).toMatchObject({ decision: Decision.ALLOW, recordedCallIds: [first.callId] });
    expect(await run.outcomes()).toMatchObject([{ callId: first.callId, outcome: OutcomeStatus.SUCCEEDED, outcomeSummary: "2 lines" }]);
    const { events } = await service.audit.query({ sessionId: run.ids.sessionId }, service.as(testPrincipal));
    const [outcome] = await run.outcomes();
    expect(events.find(({ callId }) => callId === second.callId)!.id).toBeGreaterThan(outcome!.id);
    const third = await run.decide(read("c"), [run.ended(first.callId, { status: OutcomeStatus.FAILED }), run.ended(second.callId)]);
    expect(third.recordedCallIds).toEqual([second.callId]);
    expect((await run.outcomes()).map(({ outcome }) => outcome)).toEqual([OutcomeStatus.SUCCEEDED, OutcomeStatus.SUCCEEDED]);
  });

  it("are recorded with a denial, too", async () => {
    const run = newRun();
    const { callId } = await run.decide(read("a"));
    const denied = await run.decide({ tool: "no_such_tool", arguments: {} }, [run.ended(callId)]);
    expect(denied).toMatchObject({ decision: Decision.DENY, recordedCallIds: [callId] });
  });

  it("are left to be told by themselves where a person is asked", async () => {
    const run = newRun();
    const { callId } = await run.decide(read("a"));
    const asked = await run.decide(shell("rm -r x"), [run.ended(callId)]);
    expect(asked).toMatchObject({ decision: Decision.ASK, recordedCallIds: [] });
    expect(await run.outcomes()).toEqual([]);
  });

  it("are not recorded of calls of another run, that nobody decided on, that were denied, or that are malformed", async () => {
    const run = newRun();
    const other = newRun();
    const foreign = await other.decide(read("a"));
    const denied = await run.decide({ tool: "no_such_tool", arguments: {} });
    const mine = await run.decide(read("a"));
    const ended = [
      other.ended(foreign.callId),
      run.ended(foreign.callId),
      run.ended(randomUUID()),
      run.ended(denied.callId),
      run.ended("a\u001bb"),
      run.ended(mine.callId, { status: 99 }),
      run.ended(mine.callId, { summary: "x".repeat(2_001) }),
    ];
    const decided = await run.decide(read("b"), ended);
    expect(decided).toMatchObject({ decision: Decision.ALLOW, recordedCallIds: [] });
    expect([...(await run.outcomes()), ...(await other.outcomes())]).toEqual([]);
  });

  it("are not recorded for another person", async () => {
    const run = newRun();
    const { callId } = await run.decide(read("a"));
    const settings = settingsOf();
    const thief: Principal = { ...testPrincipal, id: "user:eve" };
    const call = callOf({ ...run.ids, ...read("b") });
    const client = createClient(RunPolicyService, createMeshTransport(service.url));
    async function* requests() {
      yield { head: { id: 1 }, request: { case: "decide" as const, value: { call } }, endedCalls: [run.ended(callId)] };
    }
    for await (const { recordedCallIds } of client.streamCalls(requests(), service.forRun({ principal: thief, ...run.ids, settings })))
      expect(recordedCallIds).toEqual([]);
    expect(await run.outcomes()).toEqual([]);
  });
});

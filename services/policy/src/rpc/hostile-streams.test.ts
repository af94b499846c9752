import { create, toBinary } from "@bufbuild/protobuf";
import type { Principal } from "@hlvm/identity/principal";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunPolicyService, StreamCallsRequestSchema } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { HostileCaller, hostileStreams } from "@hlvm/testing/hostile-caller";
import { testLog } from "@hlvm/testing/test-log";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOf, settingsOf } from "../testing/test-calls.ts";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";

const SEED = 20_261_122;
const STREAMS = 1_000;
const RESETS = 10_000;
const MEBIBYTE = 1_024 * 1_024;
const { typeName, method } = RunPolicyService;

const person: Principal = { organization: "local", id: "user:ada", roles: ["developer"] };
const ID = "00000000-0000-4000-8000-000000000001";
const RUN = { principal: person, sessionId: ID, runId: ID, settings: settingsOf() };

let test: TestPolicy;
let caller: HostileCaller;

/** Requests of the method: calls of one number twice, cancels of calls that nobody made, outcomes, alone and with others, of calls that nobody decided. */
const messages = fc
  .record({
    id: fc.constantFrom(0, 1, 1, 2, 3, 0xffff_ffff),
    token: fc.constantFrom("", "", "no token"),
    timeoutMilliseconds: fc.constantFrom(0, 1, 1_000, 0xffff_ffff),
    request: fc.constantFrom("decide" as const, "recordOutcome" as const, "cancel" as const, undefined),
    callId: fc.constantFrom("", "c", "\u0000"),
    argumentsJson: fc.constantFrom("", "{", '{"path":"a"}'),
    ended: fc.constantFrom(0, 1, 100),
  })
  .map(({ request, callId, argumentsJson, ended, ...head }) => {
    const call = { sessionId: RUN.sessionId, runId: RUN.runId, callId, tool: "read_file", argumentsJson, definitionHash: "a".repeat(64) };
    const values = { decide: { call }, recordOutcome: { ...call, summary: "\ud800" }, cancel: {} };
    const given = request === undefined ? undefined : ({ case: request, value: values[request] } as never);
    return toBinary(
      StreamCallsRequestSchema,
      create(StreamCallsRequestSchema, { head, request: given, endedCalls: Array(ended).fill(values.recordOutcome) }),
    );
  });

beforeEach(async () => {
  test = await startTestPolicy();
  const { headers } = test.forRun(RUN);
  caller = new HostileCaller(test.url, `/${typeName}/${method.streamCalls.name}`, new Headers(headers).get("authorization")!);
  vi.spyOn(testLog, "error");
  vi.spyOn(testLog, "debug");
});

afterEach(async () => {
  caller.close();
  const call = callOf({ tool: "read_file", arguments: { path: "a" } });
  const run = { principal: person, sessionId: call.sessionId, runId: call.runId, settings: settingsOf() };
  expect((await test.policy.decide({ call }, test.forRun(run))).verdict?.decision).toBe(Decision.ALLOW);
  expect(vi.mocked(testLog.error).mock.calls).toEqual([]);
  vi.restoreAllMocks();
  await test.close();
});

describe("a stream that sends what it likes is answered or ended, and others are served as before", () => {
  it("whatever it sends, and however it leaves", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(hostileStreams(messages), async (stream) => {
        const answer = await caller.send(stream);
        expect(answer).not.toContain("Something went wrong inside the service");
      }),
      { seed: SEED, numRuns: STREAMS },
    );
  });

  it("also 10,000 of them that are opened and reset, which are not kept", { timeout: 120_000 }, async () => {
    await caller.openAndReset(RESETS / 10);
    const before = process.memoryUsage().rss;
    await caller.openAndReset(RESETS);
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * MEBIBYTE);
    // The server took them for calls, and not only their frames.
    expect(vi.mocked(testLog.debug).mock.calls.length).toBeGreaterThan(RESETS / 10);
  });
});

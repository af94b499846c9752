import { create, toBinary } from "@bufbuild/protobuf";
import { SandboxService, StreamCallsRequestSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { HostileCaller, hostileStreams } from "@hlvm/testing/hostile-caller";
import { testLog } from "@hlvm/testing/test-log";
import { testPrincipal } from "@hlvm/testing/test-identity";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useTestService } from "../testing/use-test-service.ts";

const SEED = 20_261_122;
const STREAMS = 1_000;
const RESETS = 10_000;
const MEBIBYTE = 1_024 * 1_024;
const { typeName, method } = SandboxService;

const service = useTestService();
let caller: HostileCaller;
let begun: { readonly sessionId: string };

/** Requests of the method: calls of one number twice, cancels of calls that nobody made, calls of sessions of nobody. */
const messages = fc
  .record({
    id: fc.constantFrom(0, 1, 1, 2, 3, 0xffff_ffff),
    token: fc.constantFrom("", "", "no token"),
    timeoutMilliseconds: fc.constantFrom(0, 1, 1_000, 0xffff_ffff),
    request: fc.constantFrom("execute" as const, "cancel" as const, undefined),
    sessionId: fc.constantFrom("", "00000000-0000-4000-8000-000000000001", "\u0000"),
    argumentsJson: fc.constantFrom("", "{", '{"command":"true"}'),
  })
  .map(({ request, sessionId, argumentsJson, ...head }) => {
    const call = { sessionId, runId: sessionId, callId: "c", tool: "shell_exec", argumentsJson, definitionHash: "a".repeat(64) };
    const value = request === "execute" ? { call, grant: "none" } : {};
    return toBinary(
      StreamCallsRequestSchema,
      create(StreamCallsRequestSchema, { head, request: request === undefined ? undefined : ({ case: request, value } as never) }),
    );
  });

beforeEach(async () => {
  const { headers } = await service.headersOf(testPrincipal);
  caller = new HostileCaller(service.url, `/${typeName}/${method.streamCalls.name}`, new Headers(headers).get("authorization")!);
  begun = await service.open();
  vi.spyOn(testLog, "error");
  vi.spyOn(testLog, "debug");
});

afterEach(async () => {
  caller.close();
  const shell = { runId: begun.sessionId, tool: "shell_exec", given: { command: "echo well" } };
  const result = await service.execute({ ...shell, sessionId: begun.sessionId, callId: "after", principal: testPrincipal });
  expect(result.content).toBe("well\n");
  expect(vi.mocked(testLog.error).mock.calls).toEqual([]);
  vi.restoreAllMocks();
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

import { duplexPair } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testEnforcement } from "@hlvm/testing/test-identity";
import { encodeFrame, MAXIMUM_FRAME_BYTES } from "../../../runner/frames.ts";
import { RunnerConnection } from "./runner-connection.ts";

const run = { callId: "call", tool: "read_file", argumentsJson: "{}", timeoutMilliseconds: 1_000, enforcement: testEnforcement };

/** A connection, and the end that a hostile runner would hold. */
function connect() {
  const [ours, theirs] = duplexPair();
  const failure = Promise.withResolvers<Error>();
  theirs.resume();
  return { connection: new RunnerConnection(ours, failure.resolve), runner: theirs, failed: failure.promise };
}

describe("RunnerConnection", () => {
  it("gives the result of a call", async () => {
    const { connection, runner } = connect();
    const result = connection.execute(run);
    runner.write(
      encodeFrame({ result: { callId: "call", result: { success: true, content: "x", summary: "a\nb", resultBytes: "1", exitCode: 0 } } }),
    );
    expect(await result).toMatchObject({ success: true, content: "x", summary: "a b", resultBytes: 1, exitCode: 0 });
  });

  it.each([
    ["what is not JSON", Buffer.from([0, 0, 0, 2, 0x7b, 0x21])],
    ["a frame over the limit", Buffer.from([(MAXIMUM_FRAME_BYTES >> 24) + 1, 0, 0, 0])],
    ["a field that the contract does not have", encodeFrame({ ready: {}, more: 1 })],
    ["a field of the wrong type", encodeFrame({ result: { callId: 7 } })],
    ["a message of nothing", encodeFrame({})],
    ["no object at all", encodeFrame([1])],
    ["output, which no tool of the runner has", encodeFrame({ output: { callId: "call", output: { text: "x" } } })],
  ])("ends with %s", async (_what, bytes) => {
    const { connection, runner, failed } = connect();
    void connection.execute(run);
    runner.write(bytes);
    expect((await failed).message).toBe("the runner does not keep to its contract");
  });

  it("ends, and does not throw, whatever bytes come", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 64 }), async (bytes) => {
        const { runner, failed } = connect();
        runner.end(Buffer.from(bytes));
        expect((await failed).message).toMatch(/contract|ended/);
      }),
    );
  });

  it("lets a runner speak only of calls that it was given, once, and in bounds", async () => {
    const { connection, runner } = connect();
    const result = connection.execute(run);
    runner.write(encodeFrame({ result: { callId: "other", result: { success: true } } }));
    runner.write(encodeFrame({ restored: { callId: "other", changes: [] } }));
    runner.write(
      encodeFrame({
        result: {
          callId: "call",
          result: { success: false, errorCode: "made_up", summary: "s".repeat(9_999), content: "c".repeat(3_000_000) },
        },
      }),
    );
    const given = await result;
    expect(given).toMatchObject({ success: false, errorCode: "internal", truncated: true });
    expect([given.summary.length, given.content.length]).toEqual([500, 2 * 1024 * 1024]);
  });
});

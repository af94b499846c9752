import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SandboxService, StreamCallsResponseSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { CallStream } from "./call-stream.ts";
import { failureOf } from "@hlvm/rpc/testing/failure-of";
import { all, isLast, requestOf, type Calls } from "./testing/streamed-calls.ts";

/** A stream that says what it is told, and nothing of its own. */
function scripted(...streams: ((id: number) => object[])[]) {
  return scriptedFor({ isShared: false }, ...streams);
}

function scriptedFor(options: { isShared: boolean }, ...streams: ((id: number) => object[])[]) {
  let [opened, ended, made] = [0, 0, 0];
  const calls: Calls = new CallStream(
    SandboxService.method.streamCalls,
    async function* (requests) {
      const responses = streams[opened++]!;
      for await (const { head, request } of requests) {
        if (request.case === "cancel") continue;
        made++;
        for (const response of responses(head.id!)) yield create(StreamCallsResponseSchema, response);
      }
      ended++;
    },
    options,
  );
  return { calls, opened: () => opened, ended: () => ended, made: () => made };
}

const result = (id: number): object => ({
  id,
  response: { case: "execute", value: { event: { case: "result", value: { content: "done" } } } },
});
const draining = (lastId: number): object => ({ id: 0, response: { case: "draining", value: { lastId } } });

describe("a stream", () => {
  it("has a call that it did not begin made again on another, until the call's deadline", async () => {
    const { calls, opened } = scripted(
      () => [draining(0)],
      () => [draining(0)],
      (id) => [result(id)],
    );
    expect(await all(calls, "one", {})).toEqual(["done"]);
    expect(opened()).toBe(3);
    const other = scripted(...Array.from({ length: 10 }, () => () => [draining(0)]));
    expect((await failureOf(all(other.calls, "one", { timeoutMilliseconds: 200 }))).code).toBe(Code.Unavailable);
    expect(other.opened()).toBeGreaterThan(1);
  });

  it("is not used for the next call where the service is draining, and a call that it began is not made again", async () => {
    const { calls, opened } = scripted(
      (id) => [draining(id), result(id)],
      (id) => [result(id)],
    );
    expect(await all(calls, "one", {})).toEqual(["done"]);
    expect(opened()).toBe(1);
    expect(await all(calls, "two", {})).toEqual(["done"]);
    expect(opened()).toBe(2);
  });

  it("has no call made again because of what its service says of a failure", async () => {
    const said = { code: Code.Unavailable, message: "the model said REFUSED_STREAM" };
    const { calls, made } = scripted((id) => [{ id, response: { case: "error", value: said } }]);
    expect((await failureOf(all(calls, "one", {}))).rawMessage).toBe(said.message);
    expect(made()).toBe(1);
  });

  it.each([
    { isShared: false, seconds: 10 },
    { isShared: true, seconds: 60 },
  ])("is closed when no call was made for a while, and opened again by the next: $seconds s, shared: $isShared", async (kind) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { calls, opened, ended } = scriptedFor(
      kind,
      (id) => [result(id)],
      (id) => [result(id)],
    );
    await all(calls, "one", {});
    await all(calls, "two", {});
    await vi.advanceTimersByTimeAsync(kind.seconds * 1_000 - 1);
    expect([opened(), ended()]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended()).toBe(1);
    await all(calls, "three", {});
    expect(opened()).toBe(2);
  });

  it("is closed when the calls under way have ended, where its caller says that none follows", async () => {
    const { calls, opened, ended } = scripted((id) => [result(id)]);
    const underWay = calls.call(requestOf("one"), { token: "", timeoutMilliseconds: 5_000 }, isLast);
    const first = underWay.next();
    calls.close();
    expect((await first).done).toBe(false);
    expect((await underWay.next()).done).toBe(true);
    await expect.poll(ended, { timeout: 5_000 }).toBe(1);
    expect(opened()).toBe(1);
  });

  it("has a call end that its service ended without a last response", async () => {
    const { calls } = scripted((id) => [{ id }]);
    expect(await all(calls, "one", {})).toEqual([]);
  });
});

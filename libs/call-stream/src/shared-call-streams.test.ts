import { once } from "node:events";
import { Code, createClient, type HandlerContext } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxService, type StreamCallsRequest, type StreamCallsResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { failureOf } from "@hlvm/rpc/testing/failure-of";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { answerCalls } from "./answer-calls.ts";
import { CallStream } from "./call-stream.ts";
import type { CallLimits } from "./open-stream.ts";
import { SharedCallStreams } from "./shared-call-streams.ts";
import { all as allOf, isLast, requestOf } from "./testing/streamed-calls.ts";

const { minter, verifier } = await createTestIdentity();
const tokenOf = (id: string): string => minter.mint({ ...testPrincipal, id }, "sandbox");
const limits = { token: tokenOf("ada"), timeoutMilliseconds: 20_000 };
const output = (text: string) => ({ case: "execute" as const, value: { event: { case: "output" as const, value: { text } } } });
const result = (content: string) => ({ case: "execute" as const, value: { event: { case: "result" as const, value: { content } } } });

let server: RpcServer;
let calls: SharedCallStreams<StreamCallsRequest["request"], StreamCallsResponse["response"]>;
let streams: number;
/** How many requests each message brought. */
let messages: number[];
let joins: boolean;
let answer: (callId: string, context: HandlerContext) => AsyncIterable<string>;

async function* noted(requests: AsyncIterable<StreamCallsRequest>): AsyncGenerator<StreamCallsRequest, void> {
  for await (const request of requests) {
    messages.push(1 + request.more.length);
    yield request;
  }
}

beforeEach(async () => {
  streams = 0;
  messages = [];
  joins = true;
  answer = async function* () {};
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: verifier("sandbox"),
    routes: (router) =>
      router.service(SandboxService, {
        streamCalls: (requests, stream) => {
          streams++;
          return answerCalls(noted(requests), stream, {
            async *answer(request, context) {
              const { callId } = (request.value as { call: { callId: string } }).call;
              for await (const text of answer(callId, context)) yield output(text);
              yield result(callId);
            },
            isLast: ({ value }) => value.event.case === "result",
            joins,
          });
        },
      }),
  });
  const client = createClient(SandboxService, createMeshTransport(`http://127.0.0.1:${server.port}`));
  calls = new SharedCallStreams(
    (isShared) =>
      new CallStream(
        SandboxService.method.streamCalls,
        (requests, token, signal) => client.streamCalls(requests, { headers: { authorization: `Bearer ${token}` }, signal, timeoutMs: 0 }),
        { isShared },
      ),
  );
});
afterEach(() => server.close());

const all = (callId: string, more: Partial<CallLimits> = {}): Promise<string[]> => allOf(calls, callId, { ...limits, ...more });

describe("calls of many runs on shared streams", () => {
  it("are 64 to a stream, and those that come later use the streams that are there", async () => {
    const go = Promise.withResolvers<void>();
    answer = async function* () {
      await go.promise;
      yield "here";
    };
    const asked = Array.from({ length: 130 }, (_, index) => all(String(index)));
    await expect.poll(() => streams).toBe(3);
    go.resolve();
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 130 }, (_, index) => ["here", String(index)]));
    await Promise.all(Array.from({ length: 130 }, (_, index) => all(String(index))));
    expect(streams).toBe(3);
  });

  it("go together where they are made at the same time, with what is cancelled", async () => {
    const ended: string[] = [];
    const go = Promise.withResolvers<void>();
    answer = async function* (callId, { signal }) {
      if (callId === "later") await go.promise;
      if (callId === "whole" || callId === "later") return;
      await once(signal, "abort");
      ended.push(callId);
      yield "nobody reads it";
    };
    const over = new AbortController();
    const numbers = Array.from({ length: 10 }, (_, index) => String(index));
    await all("whole");
    const later = all("later");
    const cancelled = numbers.map((number) => failureOf(all(number, { signal: over.signal })));
    expect(await all("whole")).toEqual(["whole"]);
    over.abort();
    expect(await all("whole")).toEqual(["whole"]);
    expect(await Promise.all(cancelled)).toEqual(numbers.map(() => expect.objectContaining({ code: Code.Canceled })));
    await expect.poll(() => ended.toSorted()).toEqual(numbers);
    go.resolve();
    expect(await later).toEqual(["later"]);
    expect(messages).toEqual([1, 12, 11]);
  });

  it("go by themselves to a service that has not said that it takes them together, as those of the version before", async () => {
    joins = false;
    await all("first");
    await Promise.all(Array.from({ length: 10 }, (_, index) => all(String(index))));
    expect(messages).toEqual(Array(11).fill(1));
  });

  it("are each made by who their own token names, at the same time, and fail by themselves without a good one", async () => {
    answer = async function* (_, context) {
      yield callContext(context).principal.id;
    };
    await all("first");
    const people = Array.from({ length: 20 }, (_, index) => `person-${index}`);
    const asked = people.flatMap((id) => [all(id, { token: tokenOf(id) }), failureOf(all(id, { token: `${tokenOf(id)}x` }))]);
    const expected = people.flatMap((id) => [[id, id], expect.objectContaining({ code: Code.Unauthenticated })]);
    expect(await Promise.all<unknown>(asked)).toEqual(expected);
    expect(streams).toBe(1);
    expect(messages.length).toBeLessThan(people.length);
  });

  it("are made all the same where the stream is refused for the token of whoever opened it", async () => {
    const forged = failureOf(all("forged", { token: `${tokenOf("eve")}x` }));
    const others = ["ada", "bob"].map((id) => all(id, { token: tokenOf(id) }));
    expect(await forged).toMatchObject({ code: Code.Unauthenticated });
    expect(await Promise.all(others)).toEqual([["ada"], ["bob"]]);
  });

  it("do not wait for another's reader: one that is far behind loses its call, whose service hears that its caller comes back", async () => {
    const ended = Promise.withResolvers<unknown>();
    answer = async function* (callId, { signal }) {
      if (callId !== "slow") return;
      signal.addEventListener("abort", () => ended.resolve(signal.reason));
      for (let count = 0; !signal.aborted; count++) yield String(count);
    };
    const slow = calls.call(requestOf("slow"), limits, isLast);
    await slow.next();
    for (let index = 0; index < 20; index++) expect(await all("other")).toEqual(["other"]);
    expect(await ended.promise).toMatchObject({ reason: "caller_lost" });
    let read = 1;
    const reading = (async () => {
      for await (const _ of slow) read++;
    })();
    expect(await failureOf(reading)).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringMatching(/^connection lost/) });
    expect(read).toBe(4_097);
    expect(await all("next")).toEqual(["next"]);
    expect(streams).toBe(1);
  });

  it("end when one reader leaves, and the others go on", async () => {
    const aborted: Promise<unknown>[] = [];
    answer = async function* (callId, { signal }) {
      if (callId === "stays") return;
      aborted.push(once(signal, "abort").then(() => signal.reason as unknown));
      yield "begun";
      await once(signal, "abort");
    };
    for await (const _ of calls.call(requestOf("left"), limits, isLast)) break;
    expect(await aborted[0]).not.toMatchObject({ reason: "caller_lost" });
    expect(await all("stays")).toEqual(["stays"]);
    expect(streams).toBe(1);
  });

  it("have a stream of their own where they are large, so that none holds up or ends the others'", async () => {
    const go = Promise.withResolvers<void>();
    answer = async function* (callId) {
      if (callId !== "small") return;
      await go.promise;
      yield "waited";
    };
    const small = all("small");
    const request = requestOf("large");
    (request.value as { grant: string }).grant = "x".repeat(17 * 1024 * 1024);
    const large = (async () => {
      for await (const _ of calls.call(request, limits, isLast));
    })();
    expect(await failureOf(large)).toMatchObject({ code: Code.ResourceExhausted });
    go.resolve();
    expect(await small).toEqual(["waited", "small"]);
    expect(await all("next")).toEqual(["next"]);
  });
});

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import {
  ErrorClass,
  FinishReason,
  GenerateRequestSchema,
  GenerateResponseSchema,
  ModelErrorSchema,
  ModelService,
  Role,
  type GenerateResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ModelEvent } from "../../domain/loop/ports.ts";
import { refuse } from "../../testing/refuse.ts";
import { MeshCaller } from "./mesh-caller.ts";
import { MeshDoorModels } from "./mesh-door-models.ts";

type Asked = "generate" | "resume";

const lost = new ConnectError("connection lost", Code.Unavailable);
const gone = new ConnectError("gone", Code.FailedPrecondition, undefined, [
  { desc: ErrorAdviceSchema, value: { reason: "resume_not_possible", advice: "" } },
]);
const overloaded = new ConnectError("overloaded", Code.Unavailable, undefined, [
  { desc: ModelErrorSchema, value: { class: ErrorClass.TRANSIENT, advice: "" } },
]);

let server: RpcServer;
let models: MeshDoorModels;
/** What was asked of the gateway, and how many streams it has. */
let asked: Asked[];
let streams: number;
let answer: (call: number, context: HandlerContext) => AsyncIterable<GenerateResponse>;

beforeEach(async () => {
  asked = [];
  streams = 0;
  const identity = await createTestIdentity();
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: identity.verifier("model-gateway"),
    routes: (router) =>
      void router.service(ModelService, {
        async *streamCalls(requests, stream) {
          streams++;
          try {
            yield* answerCalls(requests, stream, {
              async *answer(request, context) {
                asked.push(request.case as Asked);
                for await (const value of answer(asked.length, context)) yield { case: "generate" as const, value };
              },
              isLast: ({ value }) => value.event.case === "finish",
            });
          } finally {
            streams--;
          }
        },
      }),
  });
  const run = { principal: testPrincipal, delegation: identity.delegate({ principal: testPrincipal }) };
  const caller = new MeshCaller(identity.runMinter, run, "model-gateway");
  models = new MeshDoorModels(createMeshTransport(`http://127.0.0.1:${server.port}`), caller);
});
afterEach(() => server.close());

const question = create(GenerateRequestSchema, {
  model: "a/b",
  messages: [{ role: Role.USER, parts: [{ part: { case: "text", value: "Hello" } }] }],
});
const token = (resumed = false): GenerateResponse =>
  create(GenerateResponseSchema, { event: { case: "alive", value: { resumed } }, resumeToken: "token", resumeSeconds: 5 });
const text = (value: string, sequence: bigint): GenerateResponse =>
  create(GenerateResponseSchema, { event: { case: "textDelta", value }, sequence, digest: Number(sequence) });
const finish = (sequence: bigint): GenerateResponse =>
  create(GenerateResponseSchema, { event: { case: "finish", value: { reason: FinishReason.STOP } }, sequence, digest: Number(sequence) });

async function read(events: ModelEvent[] = [], signal = new AbortController().signal): Promise<ModelEvent[]> {
  for await (const event of models.generate(question, signal)) events.push(event);
  return events;
}
const casesOf = (events: readonly ModelEvent[]): unknown[] => events.map(({ case: kind, value }) => (kind === "textDelta" ? value : kind));

describe("an answer for a program whose way to the gateway is lost", () => {
  it("goes on at the last piece; the sign with the token is nothing of it", async () => {
    answer = async function* (call) {
      yield token(call > 1);
      if (call === 1) yield text("At ", 1n);
      if (call < 4) throw lost;
      yield text("last", 2n);
      yield finish(3n);
    };
    expect(casesOf(await read())).toEqual(["At ", "last", "finish"]);
    expect(asked).toEqual(["generate", "resume", "resume", "resume"]);
    await expect.poll(() => streams, { timeout: 3_000 }).toBe(0);
  });

  it("is asked for again where nothing of it had come", async () => {
    answer = async function* (call) {
      yield token();
      if (call === 1) throw lost;
      if (call === 2) throw gone;
      yield text("anew", 1n);
      yield finish(2n);
    };
    expect(casesOf(await read())).toEqual(["anew", "finish"]);
    expect(asked).toEqual(["generate", "resume", "generate"]);
  });

  it("fails where its rest is gone and something of it had come, and is not asked for again", async () => {
    answer = async function* (call) {
      yield token();
      if (call > 1) throw gone;
      yield text("At ", 1n);
      throw lost;
    };
    const events: ModelEvent[] = [];
    await expect(read(events)).rejects.toMatchObject({ code: "unavailable", message: "connection lost" });
    expect(casesOf(events)).toEqual(["At "]);
    expect(asked).toEqual(["generate", "resume"]);
  });

  it("is not asked for again for ever, nor where the gateway itself says that the model failed", async () => {
    answer = () => refuse(lost);
    await expect(read()).rejects.toMatchObject({ code: "unavailable" });
    expect(asked).toHaveLength(3);
    answer = () => refuse(overloaded);
    await expect(read()).rejects.toMatchObject({ message: "overloaded" });
    expect(asked).toHaveLength(4);
  });
});

it("is cancelled, and not only left, where its program goes: the gateway does not wait for anybody to come back", async () => {
  const ended = Promise.withResolvers<unknown>();
  answer = async function* (_, { signal }) {
    signal.addEventListener("abort", () => ended.resolve(signal.reason));
    yield token();
    yield text("At ", 1n);
    await ended.promise;
  };
  const left = new AbortController();
  for await (const event of models.generate(question, left.signal)) {
    expect(event.case).toBe("textDelta");
    left.abort();
    break;
  }
  expect(await ended.promise).not.toMatchObject({ reason: "caller_lost" });
  await expect.poll(() => streams, { timeout: 3_000 }).toBe(0);
});

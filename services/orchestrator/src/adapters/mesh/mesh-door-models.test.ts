import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { ErrorClass, GenerateRequestSchema, ModelErrorSchema, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ModelEvent } from "../../domain/loop/ports.ts";
import { finish, resumeToken, startModelCallsServer, textDelta, type ModelCallsServer } from "../../testing/model-calls-server.ts";
import { refuse } from "../../testing/refuse.ts";
import { MeshDoorModels } from "./mesh-door-models.ts";

const lost = new ConnectError("connection lost", Code.Unavailable);
const gone = new ConnectError("gone", Code.FailedPrecondition, undefined, [
  { desc: ErrorAdviceSchema, value: { reason: "resume_not_possible", advice: "" } },
]);
const overloaded = new ConnectError("overloaded", Code.Unavailable, undefined, [
  { desc: ModelErrorSchema, value: { class: ErrorClass.TRANSIENT, advice: "" } },
]);

let server: ModelCallsServer;
let models: MeshDoorModels;

beforeEach(async () => {
  server = await startModelCallsServer();
  models = new MeshDoorModels(server.client, server.callerOf());
});
afterEach(() => server.close());

const question = create(GenerateRequestSchema, {
  model: "a/b",
  messages: [{ role: Role.USER, parts: [{ part: { case: "text", value: "Hello" } }] }],
});
async function read(events: ModelEvent[] = [], signal = new AbortController().signal): Promise<ModelEvent[]> {
  for await (const event of models.generate(question, signal)) events.push(event);
  return events;
}
const casesOf = (events: readonly ModelEvent[]): unknown[] => events.map(({ case: kind, value }) => (kind === "textDelta" ? value : kind));

describe("an answer for a program whose way to the gateway is lost", () => {
  it("goes on at the last piece; the sign with the token is nothing of it", async () => {
    server.answer = async function* (call) {
      yield resumeToken(call > 1);
      if (call === 1) yield textDelta("At ", 1n);
      if (call < 4) throw lost;
      yield textDelta("last", 2n);
      yield finish(3n);
    };
    expect(casesOf(await read())).toEqual(["At ", "last", "finish"]);
    expect(server.asked).toEqual(["generate", "resume", "resume", "resume"]);
    await expect.poll(() => server.streams.open, { timeout: 5_000 }).toBe(0);
  });

  it("is asked for again where nothing of it had come", async () => {
    server.answer = async function* (call) {
      yield resumeToken();
      if (call === 1) throw lost;
      if (call === 2) throw gone;
      yield textDelta("anew", 1n);
      yield finish(2n);
    };
    expect(casesOf(await read())).toEqual(["anew", "finish"]);
    expect(server.asked).toEqual(["generate", "resume", "generate"]);
  });

  it("fails where its rest is gone and something of it had come, and is not asked for again", async () => {
    server.answer = async function* (call) {
      yield resumeToken();
      if (call > 1) throw gone;
      yield textDelta("At ", 1n);
      throw lost;
    };
    const events: ModelEvent[] = [];
    await expect(read(events)).rejects.toMatchObject({ code: "unavailable", message: "connection lost. gone" });
    expect(casesOf(events)).toEqual(["At "]);
    expect(server.asked).toEqual(["generate", "resume"]);
  });

  it("is not asked for again for ever, nor where the gateway itself says that the model failed", async () => {
    server.answer = () => refuse(lost);
    await expect(read()).rejects.toMatchObject({ code: "unavailable" });
    expect(server.asked).toHaveLength(3);
    server.answer = () => refuse(overloaded);
    await expect(read()).rejects.toMatchObject({ message: "overloaded" });
    expect(server.asked).toHaveLength(4);
  });
});

it("is cancelled, and not only left, where its program goes: the gateway does not wait for anybody to come back", async () => {
  const ended = Promise.withResolvers<unknown>();
  server.answer = async function* (_, { signal }) {
    signal.addEventListener("abort", () => ended.resolve(signal.reason));
    yield resumeToken();
    yield textDelta("At ", 1n);
    await ended.promise;
  };
  const left = new AbortController();
  for await (const event of models.generate(question, left.signal)) {
    expect(event.case).toBe("textDelta");
    left.abort();
    break;
  }
  expect(await ended.promise).not.toMatchObject({ reason: "caller_lost" });
  await expect.poll(() => server.streams.open, { timeout: 5_000 }).toBe(0);
});

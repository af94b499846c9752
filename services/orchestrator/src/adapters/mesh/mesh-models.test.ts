import { once } from "node:events";
import { SharedCallStreams } from "@hlvm/call-stream/shared-call-streams";
import { callContext } from "@hlvm/rpc/call-context";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { create } from "@bufbuild/protobuf";
import { MessageSchema, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ModelRequest } from "../../domain/loop/ports.ts";
import { finish, resumeToken, startModelCallsServer, textDelta, type ModelCallsServer } from "../../testing/model-calls-server.ts";
import { MeshModels } from "./mesh-models.ts";
import { openModelCalls } from "./model-calls.ts";

const PIECES = 6_000;
const never = new AbortController().signal;
let server: ModelCallsServer;
/** A run's models. */
let modelsOf: (id: string) => MeshModels;

beforeEach(async () => {
  server = await startModelCallsServer();
  const calls = new SharedCallStreams((isShared) => openModelCalls(server.client, isShared));
  modelsOf = (id) => new MeshModels(server.client, calls, server.callerOf({ ...testPrincipal, id }));
});
afterEach(() => server.close());

const request: ModelRequest = {
  model: "a/b",
  sessionId: crypto.randomUUID(),
  runId: crypto.randomUUID(),
  messages: [create(MessageSchema, { role: Role.USER, parts: [{ part: { case: "text", value: "Hello" } }] })],
  tools: [],
  maximumOutputTokens: 100,
};

async function read(id: string): Promise<string> {
  let text = "";
  for await (const { case: kind, value } of modelsOf(id).generate(request, never)) if (kind === "textDelta") text += value;
  return text;
}

describe("the models of many runs", () => {
  it("are asked on one stream, each run in the name of its own person", async () => {
    server.answer = async function* (_, context) {
      yield resumeToken();
      yield textDelta(callContext(context).principal.id, 1n);
      yield finish(2n);
    };
    const people = Array.from({ length: 12 }, (_, index) => `person-${index}`);
    expect(await Promise.all(people.map(read))).toEqual(people);
    expect(server.streams.opened).toBe(1);
  });

  it("go on where a request of another cannot be sent, and ends the stream", async () => {
    server.answer = async function* (_, { signal }, asked) {
      yield resumeToken(asked === "resume");
      if (asked === "generate") {
        yield textDelta("At ", 1n);
        await once(signal, "abort");
      }
      yield textDelta("last", 2n);
      yield finish(3n);
    };
    const begun = modelsOf("ada").generate(request, never);
    let text = "";
    for await (const { case: kind, value } of begun) {
      if (kind !== "textDelta") continue;
      text += value;
      if (text !== "At ") continue;
      const broken = modelsOf("bob").generate({ ...request, maximumOutputTokens: 1.5 }, never);
      await expect(broken.next()).rejects.toThrow(/invalid uint32/);
    }
    expect(text).toBe("At last");
    expect(server.asked).toEqual(["generate", "resume"]);
  });

  it("hold nobody up who reads slowly, and lose nothing of what they read", async () => {
    const whole = Array.from({ length: PIECES }, (_, index) => `${index} `).join("");
    let readOf = 0;
    server.answer = async function* (_, { signal }, asked) {
      yield resumeToken(asked === "resume");
      const from = asked === "resume" ? readOf : 0;
      for (let index = from; index < PIECES && !signal.aborted; index++) yield textDelta(`${index} `, BigInt(index + 1));
      yield finish(BigInt(PIECES + 1));
    };
    const slow = modelsOf("slow").generate(request, never);
    expect((await slow.next()).value).toMatchObject({ case: "alive" });
    let text = "";
    const others = server.answer;
    server.answer = async function* () {
      yield textDelta("at once", 1n);
      yield finish(2n);
    };
    for (let index = 0; index < 20; index++) expect(await read("other")).toBe("at once");
    server.answer = others;
    for await (const { case: kind, value } of slow) {
      if (kind !== "textDelta") continue;
      text += value;
      readOf++;
    }
    expect(text).toBe(whole);
    expect(server.asked.filter((asked) => asked === "resume")).toHaveLength(1);
  });
});

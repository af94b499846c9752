import { setImmediate as turn } from "node:timers/promises";
import { toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { GenerateResponseSchema, ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal, type TestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Delta, Generation } from "../domain/generation.ts";
import { ModelCatalogue } from "../domain/model-catalogue.ts";
import { PriceTable } from "../domain/price-table.ts";
import type { Provider } from "../domain/provider.ts";
import { ResumeSeal } from "../domain/resume/resume-seal.ts";
import { Router } from "../domain/routing/router.ts";
import { CuttingProxy } from "../testing/cutting-proxy.ts";
import { ResumingCaller } from "../testing/resuming-caller.ts";
import { ResumableAnswers } from "./resumable-answers.ts";
import { routes } from "./routes.ts";

const WORDS = 12;

/** Says some words, each once it is let. */
class Speaker implements Provider {
  asked = 0;
  aborted = Promise.withResolvers<number>();
  word: (index: number) => Promise<void> = () => Promise.resolve();
  readonly list = () => Promise.resolve([]);
  readonly describe = () => Promise.resolve(undefined);

  async *generate({ messages }: Generation, signal: AbortSignal): AsyncGenerator<Delta, void> {
    this.asked++;
    signal.addEventListener("abort", () => this.aborted.resolve(performance.now()));
    const [part] = messages[0]!.parts;
    const pad = part?.kind === "text" && part.text === "long" ? "x".repeat(20_000) : "";
    for (let index = 0; index < WORDS; index++) {
      await this.word(index);
      signal.throwIfAborted();
      yield { kind: "text", text: `${index} ${pad}` };
    }
    yield { kind: "tool-call", id: "c", tool: "read_file", argumentsJson: '{"path":"a"}' };
    yield { kind: "usage", input: 3, output: WORDS, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
    yield { kind: "finish", reason: "tool-calls", detail: "" };
  }
}

let identity: TestIdentity;
let speaker: Speaker;
let servers: RpcServer[];
let caller: ResumingCaller;
const seal = new ResumeSeal("shared");

async function serve(replica: string, { seconds = 5, bytes = 100_000, answers = 100 } = {}): Promise<RpcServer> {
  const catalogue = new ModelCatalogue([{ name: "speaker", provider: speaker, setUp: "", known: [] }], "", []);
  const prices = new PriceTable([]);
  const router = new Router({ catalogue, routes: new Map(), prices });
  const parts = { models: () => Promise.resolve({ catalogue, router }), prices, log: testLog };
  const limits = { seconds, bytes, allBytes: 1_000_000, answers };
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: routes(parts, new ResumableAnswers(parts, { limits, seal, replica })),
    services: [ModelService.typeName],
    authenticate: identity.verifier("model-gateway"),
  });
  servers.push(server);
  return server;
}

const callerOf = (url: string, principal = testPrincipal): ResumingCaller =>
  new ResumingCaller(
    () => createMeshTransport(url),
    () => identity.minter.mint(principal, "model-gateway"),
  );
const reasonOf = (call: Promise<unknown>): Promise<string | undefined> =>
  call.then(
    () => "none",
    (thrown: unknown) => ConnectError.from(thrown).findDetails(ErrorAdviceSchema)[0]?.reason,
  );

/** The speaker says so many words, and waits. @returns lets it go on */
function holdAfter(count: number): () => void {
  const held = Promise.withResolvers<void>();
  speaker.word = (index) => (index < count ? Promise.resolve() : held.promise);
  return held.resolve;
}

beforeEach(async () => {
  identity = await createTestIdentity();
  speaker = new Speaker();
  servers = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(servers.map((server) => server.close()));
});

describe("an answer whose connection is lost", () => {
  it("comes whole and once wherever the connection is cut, between two pieces and within one, and the model is asked once", async () => {
    const { port } = await serve("");
    const proxy = await CuttingProxy.to(port);
    caller = callerOf(proxy.url);
    // A message for each word, and one for the call with all behind it.
    speaker.word = async () => {
      await turn();
      await turn();
    };
    await caller.ask("speaker/x", "short");
    const whole = caller.come.map((response) => toJson(GenerateResponseSchema, response));
    expect(whole.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: WORDS + 3 }, (_, index) => index + 1));
    const bytes = proxy.passed;
    let resumed = 0;
    for (let at = 1; at < bytes; at += 17) {
      speaker.asked = 0;
      Object.assign(proxy, { passed: 0, cutAfter: at });
      caller.token = "";
      await caller.ask("speaker/x", "short").catch(() => undefined);
      // Before the token is there nothing is there to come back to: it is asked anew, as it always was.
      if (caller.token === "") continue;
      resumed++;
      Object.assign(proxy, { passed: 0, cutAfter: at % 3 === 0 ? at : Number.POSITIVE_INFINITY });
      await caller.resumeToTheEnd();
      expect(caller.come.map((response) => toJson(GenerateResponseSchema, response))).toEqual(whole);
      expect(speaker.asked).toBe(1);
    }
    expect(resumed).toBeGreaterThan(20);
  });

  it("goes on without its caller, and ends when nobody has come back; one that is cancelled ends at once", async () => {
    const { port } = await serve("", { seconds: 1 });
    const proxy = await CuttingProxy.to(port);
    caller = callerOf(proxy.url);
    holdAfter(2);
    const lost = caller.ask("speaker/x", "short").catch(() => undefined);
    await expect.poll(() => caller.come.length).toBe(2);
    const cutAt = performance.now();
    proxy.cut();
    await lost;
    expect((await speaker.aborted.promise) - cutAt).toBeGreaterThan(900);
    expect(await reasonOf(callerOf(proxy.url).resume({ resumeToken: caller.token }))).toBe("resume_not_possible");

    speaker.aborted = Promise.withResolvers();
    const cancelled = new AbortController();
    const asked = caller.ask("speaker/x", "short", cancelled.signal).catch(() => undefined);
    await expect.poll(() => caller.come.length).toBe(2);
    const leftAt = performance.now();
    cancelled.abort();
    expect((await speaker.aborted.promise) - leftAt).toBeLessThan(100);
    await asked;
  });

  it("belongs to who reads it last, and its end can be read once more", async () => {
    const { port } = await serve("");
    caller = callerOf(`http://127.0.0.1:${port}`);
    const other = callerOf(`http://127.0.0.1:${port}`);
    const goOn = holdAfter(2);
    const first = reasonOf(caller.ask("speaker/x", "short"));
    await expect.poll(() => caller.come.length).toBe(2);
    const second = other.resume({ resumeToken: caller.token });
    expect(await first).toBe("resumed_elsewhere");
    goOn();
    await second;
    expect(other.come.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: WORDS + 3 }, (_, index) => index + 1));
    await other.resume({ resumeToken: caller.token, afterSequence: BigInt(WORDS + 2), digest: other.come.at(-2)!.digest });
    expect(other.come.at(-1)?.event.case).toBe("finish");
  });

  it("is its caller's alone: tokens of others, forged and expired ones, and another answer's place are refused", async () => {
    const { port } = await serve("");
    const url = `http://127.0.0.1:${port}`;
    caller = callerOf(url);
    await caller.ask("speaker/x", "short");
    const { token } = caller;
    const refused = (resumeToken: string, by = caller): Promise<string | undefined> => reasonOf(by.resume({ resumeToken }));
    expect(await refused(token, callerOf(url, { ...testPrincipal, id: "user:eve" }))).toBe("resume_not_possible");
    expect(await refused(token, callerOf(url, { ...testPrincipal, organization: "other" }))).toBe("resume_not_possible");
    const bytes = Buffer.from(token, "base64url");
    bytes[40]! ^= 1;
    expect(await refused(bytes.toString("base64url"))).toBe("resume_not_possible");
    expect(await refused("none")).toBe("resume_not_possible");
    const claims = { answer: "a", organization: testPrincipal.organization, principal: testPrincipal.id, replica: "", model: "speaker/x" };
    expect(await refused(seal.seal({ ...claims, expiresAt: Date.now() - 1 }))).toBe("resume_not_possible");
    expect(await refused(new ResumeSeal("another secret").seal({ ...claims, expiresAt: Date.now() + 60_000 }))).toBe("resume_not_possible");
    expect(await reasonOf(caller.resume({ digest: 1 }))).toBe("resume_not_possible");
    expect(await reasonOf(caller.resume({ afterSequence: 99n }))).toBe("resume_not_possible");
  });

  it("is not resumed wrongly where what comes next was dropped, and waits rather than drop what nobody has read", async () => {
    const { port } = await serve("", { bytes: 100_000 });
    const proxy = await CuttingProxy.to(port);
    caller = callerOf(proxy.url);
    await caller.ask("speaker/x", "long");
    expect(await reasonOf(caller.resume({ afterSequence: 2n, digest: caller.come[1]!.digest }))).toBe("resume_not_possible");
    const goOn = holdAfter(1);
    const lost = caller.ask("speaker/x", "long").catch(() => undefined);
    await expect.poll(() => caller.come.length).toBe(1);
    proxy.cut();
    await lost;
    goOn();
    await caller.resumeToTheEnd();
    expect(caller.come.length).toBe(WORDS + 3);
  });

  it("gives its place to a new one when it is whole; where all that may be kept go on, the next ends with its connection", async () => {
    const { port } = await serve("", { answers: 1 });
    const ask = async (): Promise<ResumingCaller> => {
      const one = callerOf(`http://127.0.0.1:${port}`);
      void one.ask("speaker/x", "short").catch(() => undefined);
      await expect.poll(() => speaker.asked).toBe(++asked);
      return one;
    };
    let asked = 0;
    const first = await ask();
    await expect.poll(() => first.come.at(-1)?.event.case).toBe("finish");
    const goOn = holdAfter(2);
    const second = await ask();
    await expect.poll(() => second.come.length).toBe(2);
    expect(second.token).not.toBe("");
    expect(await reasonOf(first.resume())).toBe("resume_not_possible");
    const third = await ask();
    expect([third.token, third.come]).toEqual(["", []]);
    goOn();
    await second.resumeToTheEnd();
  });

  it("is found at the gateway that has it, and nowhere else; a killed gateway's answer is gone where its provider gives it no more", async () => {
    const [one, two] = [await serve("gateway-0"), await serve("gateway-1")];
    caller = callerOf(`http://127.0.0.1:${one.port}`);
    await caller.ask("speaker/x", "short");
    const elsewhere = callerOf(`http://127.0.0.1:${two.port}`);
    expect(await reasonOf(elsewhere.resume({ resumeToken: caller.token }))).toBe("resume_elsewhere");
    await caller.resume({ afterSequence: 0n, digest: 0 });
    const next = callerOf(`http://127.0.0.1:${(await serve("gateway-0")).port}`);
    for (const _attempt of [1, 2]) expect(await reasonOf(next.resume({ resumeToken: caller.token }))).toBe("resume_not_possible");
  });
});

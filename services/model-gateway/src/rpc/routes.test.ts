import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { ErrorClass, FinishReason, ModelErrorSchema, ModelService, Role, type GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { DemoProvider } from "../adapters/demo/demo-provider.ts";
import { ScriptedProvider } from "../adapters/scripted/scripted-provider.ts";
import type { Delta, Generation } from "../domain/generation.ts";
import { ModelError } from "../domain/model-error.ts";
import { ModelCatalogue } from "../domain/model-catalogue.ts";
import { PriceTable } from "../domain/price-table.ts";
import type { ModelDescription } from "../domain/model.ts";
import type { Provider } from "../domain/provider.ts";
import { Router } from "../domain/routing/router.ts";
import { ResumeSeal } from "../domain/resume/resume-seal.ts";
import { ResumableAnswers } from "./resumable-answers.ts";
import { routes } from "./routes.ts";

const LIMITS = { seconds: 1, bytes: 1_000_000, allBytes: 1_000_000, answers: 10 };

let server: RpcServer;
let client: Client<typeof ModelService>;
let options: ReturnType<typeof outgoing>;

const script = new ScriptedProvider({
  conversations: [
    { match: "cut", turns: [{ text: "half an", cut: true }] },
    { match: "down", turns: Array.from({ length: 20 }, () => ({ error: { class: "transient", message: "It is down." } })) },
    { match: "refused", turns: [{ error: { class: "permanent", message: "the provider said no" } }] },
    { match: "call", turns: [{ thinking: "hm", toolCalls: [{ tool: "read_file", arguments: { path: "a" } }] }, { text: "done" }] },
  ],
});

/** Says something at once and nothing more, and tells what it sees of its caller. */
class HeldProvider implements Provider {
  readonly left = Promise.withResolvers<void>();
  hear: () => void = () => undefined;
  counted: () => Promise<number | undefined> = () => Promise.resolve(undefined);

  list(): Promise<readonly ModelDescription[]> {
    return Promise.resolve([]);
  }

  describe(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  countTokens(): Promise<number | undefined> {
    return this.counted();
  }

  async *generate(_generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    this.hear = heard;
    yield { kind: "text", text: "Well" };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    this.left.resolve();
    throw signal.reason;
  }
}
const held = new HeldProvider();

beforeAll(async () => {
  const { minter, verifier } = await createTestIdentity();
  const catalogue = new ModelCatalogue(
    [
      {
        name: "anthropic",
        provider: undefined,
        setUp: "Set ANTHROPIC_API_KEY.",
        known: [{ name: "big", tier: "frontier", capability: "agent", contextWindow: 9 }],
      },
      { name: "scripted", provider: script, setUp: "", known: [] },
      { name: "demo", provider: new DemoProvider(), setUp: "", known: [] },
      { name: "held", provider: held, setUp: "", known: [] },
    ],
    "",
    ["anthropic", "demo"],
  );
  const prices = new PriceTable([
    { model: "demo/*", validFrom: new Date(0), rates: { input: 7n, output: 0n, cacheRead: 0n, cacheWrite: 0n, cacheWriteHour: 0n } },
  ]);
  const models = [{ id: "anthropic/big" }, { id: "scripted/script" }, { id: "demo/rules" }];
  const router = new Router({ catalogue, routes: new Map([["r", { name: "r", models, needs: {} }]]), prices });
  const parts = { models: () => Promise.resolve({ catalogue, router }), prices, log: testLog };
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: routes(parts, new ResumableAnswers(parts, { limits: LIMITS, seal: new ResumeSeal(""), replica: "" })),
    services: [ModelService.typeName],
    authenticate: verifier("model-gateway"),
  });
  client = createClient(ModelService, createMeshTransport(`http://127.0.0.1:${server.port}`));
  options = outgoing({
    token: minter.mint(testPrincipal, "model-gateway"),
    signal: new AbortController().signal,
    remainingMilliseconds: () => 30_000,
  });
});

afterAll(() => server.close());

function ask(text: string, model = "scripted/script", signal?: AbortSignal, route = ""): AsyncIterable<GenerateResponse> {
  const messages = [{ role: Role.USER, parts: [{ part: { case: "text" as const, value: text } }] }];
  return client.generate({ model, messages, route }, { ...options, signal });
}

async function failureOf(work: Promise<unknown>): Promise<ConnectError> {
  return ConnectError.from(
    await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    ),
  );
}

async function collect(stream: AsyncIterable<GenerateResponse>): Promise<GenerateResponse["event"][]> {
  const events: GenerateResponse["event"][] = [];
  for await (const response of stream) events.push(response.event);
  return events;
}

describe("Generate", () => {
  it("streams thinking, a whole tool call, usage and one finish, in this order", async () => {
    const events = await collect(ask("call"));
    expect(events.map((event) => event.case)).toEqual(["thinkingDelta", "thinking", "toolCall", "usage", "finish"]);
    expect(events[2]?.value).toMatchObject({ tool: "read_file", argumentsJson: '{"path":"a"}' });
    expect(events.at(-1)?.value).toMatchObject({ reason: FinishReason.TOOL_CALLS });
  });

  it("carries the class of a failure and what to do about it", async () => {
    const error = await failureOf(collect(ask("refused")));
    expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "the provider said no" });
    expect(error.findDetails(ModelErrorSchema)).toMatchObject([{ class: ErrorClass.PERMANENT, provider: "scripted" }]);
    expect(error.findDetails(ErrorAdviceSchema)).toMatchObject([
      { reason: "scripted_error", advice: "This failure was played from a script." },
    ]);
  });

  it("never ends a cut stream in silence", async () => {
    const texts: string[] = [];
    const error = await failureOf(
      (async () => {
        for await (const { event } of ask("cut")) if (event.case === "textDelta") texts.push(event.value);
      })(),
    );
    expect(texts.join("")).toBe("half an");
    expect(error.findDetails(ModelErrorSchema)).toMatchObject([{ class: ErrorClass.TRANSIENT }]);
  });

  it("lets its caller hear that a call goes on, and ends the provider's work at once when the caller goes away", async () => {
    const cancelled = new AbortController();
    const now = performance.now();
    const seen: GenerateResponse["event"]["case"][] = [];
    const asked = (async () => {
      for await (const { event } of ask("?", "held/x", cancelled.signal)) {
        seen.push(event.case);
        if (event.case === "alive") cancelled.abort();
        vi.spyOn(performance, "now").mockReturnValue(now + 60_000);
        held.hear();
      }
    })();
    expect((await failureOf(asked)).code).toBe(Code.Canceled);
    vi.restoreAllMocks();
    expect(seen).toEqual(["textDelta", "alive"]);
    await held.left.promise;
  });

  it("lets another model of its route answer where it is down, says which and what it costs, and none where it was named", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const events = await collect(ask("down", "scripted/script", undefined, "route/r"));
    const error = await failureOf(collect(ask("down")));
    const messages = [{ role: Role.USER, parts: [{ part: { case: "text" as const, value: "down" } }] }];
    const dear = await failureOf(
      collect(client.generate({ model: "scripted/script", messages, route: "route/r", fallbackNeeds: { inputPrice: 6n } }, options)),
    );
    vi.restoreAllMocks();
    const [first, ...answer] = events.filter((event) => event.case !== "alive");
    expect(first).toMatchObject({ case: "servedBy", value: { model: { id: "demo/rules", prices: [{ rates: { input: 7n } }] } } });
    expect(first?.value).toMatchObject({ why: expect.stringContaining("It is down.") });
    expect(answer.at(-1)?.case).toBe("finish");
    for (const failed of [error, dear]) expect(failed.findDetails(ModelErrorSchema)).toMatchObject([{ class: ErrorClass.TRANSIENT }]);
  });

  it("refuses a caller without a token", async () => {
    expect((await failureOf(client.listModels({}))).code).toBe(Code.Unauthenticated);
  });
});

describe("CountTokens", () => {
  const count = (model: string) =>
    client.countTokens({ model, messages: [{ role: Role.USER, parts: [{ part: { case: "text", value: "four" } }] }] }, options);

  it("tells what the provider counts, nothing where it does not count, and why it could not", async () => {
    held.counted = () => Promise.resolve(41);
    expect((await count("held/x")).inputTokens).toBe(41n);
    held.counted = () => Promise.resolve(undefined);
    expect((await count("held/x")).inputTokens).toBeUndefined();
    expect((await count("demo/rules")).inputTokens).toBeUndefined();
    held.counted = () => Promise.reject(new ModelError({ class: "rate_limit", reason: "r", message: "m", advice: "", provider: "held" }));
    const error = await failureOf(count("held/x"));
    expect(error.findDetails(ModelErrorSchema)).toMatchObject([{ class: ErrorClass.RATE_LIMIT }]);
    expect((await failureOf(count("nowhere/x"))).code).toBe(Code.NotFound);
  });
});

describe("ResolveModel", () => {
  it.each([
    ["demo", Code.InvalidArgument, "model_name_malformed"],
    ["nowhere/x", Code.NotFound, "provider_unknown"],
    ["anthropic/big", Code.FailedPrecondition, "provider_not_set_up"],
    ["demo/clever", Code.NotFound, "model_not_found"],
  ])("tells why there is no %s", async (model, code, reason) => {
    const error = await failureOf(client.resolveModel({ model }, options));
    const [advice] = error.findDetails(ErrorAdviceSchema);
    expect(error.code).toBe(code);
    expect(advice?.reason).toBe(reason);
    expect(advice?.advice).not.toBe("");
  });

  it("takes the first provider that is set up where no model is named", async () => {
    expect((await client.resolveModel({}, options)).model).toMatchObject({ id: "demo/rules", default: true, available: true });
  });
});

describe("ExplainRoute", () => {
  it("tells what a route would choose, and why not what it leaves out", async () => {
    const auto = await client.explainRoute({ task: "Fix the bug" }, options);
    // Both are stand-ins, and nothing else is there.
    expect(auto.candidates.map(({ model }) => model)).toEqual(["demo/rules", "scripted/script"]);
    expect(auto.candidates[0]?.parts.find(({ name }) => name === "coding")?.weight).toBe(3);
    expect(auto.words).toMatchObject([{ word: "fix", part: "coding" }]);
    expect(auto.filtered).toMatchObject([{ model: "anthropic/big", reason: "not_available" }]);
    const route = await client.explainRoute({ route: "route/r", needs: { images: true } }, options);
    expect(route.filtered.map(({ model, reason }) => [model, reason])).toEqual([
      ["anthropic/big", "provider_not_set_up"],
      ["scripted/script", "no_images"],
      ["demo/rules", "no_images"],
    ]);
    expect((await failureOf(client.resolveModel({ model: "route/none" }, options))).code).toBe(Code.NotFound);
    expect((await client.resolveModel({ model: "route/r" }, options)).model).toMatchObject({ id: "scripted/script", route: "route/r" });
  });
});

describe("ListModels", () => {
  it("shows what could be used too, with what to set", async () => {
    const { models } = await client.listModels({}, options);
    expect(models.map(({ id, available, advice }) => ({ id, available, advice }))).toEqual([
      { id: "anthropic/big", available: false, advice: "Set ANTHROPIC_API_KEY." },
      { id: "scripted/script", available: true, advice: "" },
      { id: "demo/rules", available: true, advice: "" },
    ]);
  });
});

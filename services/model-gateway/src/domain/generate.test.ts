import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { generate, type Retry } from "./generate.ts";
import type { Delta, Generation, Told } from "./generation.ts";
import { ModelError } from "./model-error.ts";
import type { Provider } from "./provider.ts";

const generation: Generation = { model: "m", messages: [], tools: [], maximumOutputTokens: 1, temperature: undefined };
const never = new AbortController().signal;

function providerOf(attempts: readonly (() => Iterable<Delta>)[]): Provider & { readonly calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    list: () => Promise.resolve([]),
    describe: () => Promise.resolve(undefined),
    async *generate() {
      yield* attempts[calls++]!();
    },
  };
}

function failing(fields: Partial<ConstructorParameters<typeof ModelError>[0]>): () => Iterable<Delta> {
  return () => {
    throw new ModelError({ class: "transient", reason: "r", message: "m", advice: "a", provider: "p", ...fields });
  };
}

const answer = (): Delta[] => [
  { kind: "text", text: "hi" },
  { kind: "finish", reason: "stop", detail: "" },
];

async function run(provider: Provider, remainingMilliseconds?: number, retries: Retry[] = []): Promise<Told[]> {
  const deltas: Told[] = [];
  for await (const delta of generate("p", provider, generation, {
    signal: never,
    remainingMilliseconds,
    onRetry: (retry) => retries.push(retry),
  }))
    deltas.push(delta);
  return deltas;
}

afterEach(() => vi.restoreAllMocks());

describe("generate", () => {
  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 2 ** 63, "many" as never])(
    "passes no usage on of which a provider says that it was %s tokens",
    async (tokens) => {
      const none = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
      for (const field of Object.keys(none)) {
        const told = [...answer(), { kind: "usage" as const, ...none, [field]: tokens }];
        expect(await run(providerOf([() => told]))).toEqual(answer());
      }
      expect(await run(providerOf([() => [...answer(), { kind: "usage", ...none }]]))).toContainEqual({ kind: "usage", ...none });
    },
  );

  it("waits between nothing and twice as long each time before it tries again", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.04);
    const retries: Retry[] = [];
    await run(providerOf([failing({}), failing({}), answer]), undefined, retries);
    expect(retries.map(({ waitMilliseconds }) => waitMilliseconds)).toEqual([20, 40]);
  });

  it("lets its caller hear that the provider is heard of, and tries again after nothing but that", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    vi.spyOn(Math, "random").mockReturnValue(0);
    const attempts = [failing({}), answer];
    const provider: Provider = {
      ...providerOf([]),
      async *generate(_generation, _signal, heard) {
        await turn();
        now += 6_000;
        heard();
        await turn();
        yield* attempts.shift()!();
      },
    };
    expect((await run(provider)).map(({ kind }) => kind)).toEqual(["alive", "alive", "text", "finish"]);
  });

  it("lets its caller hear that it waits before it tries again", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 6_000));
    const told = await run(providerOf([failing({ retryAfterMilliseconds: 1_100 }), answer]));
    expect(told.map(({ kind }) => kind)).toEqual(["alive", "text", "finish"]);
  });

  it("does not wait past its caller's deadline", async () => {
    const provider = providerOf([failing({ class: "rate_limit", retryAfterMilliseconds: 5_000 }), answer]);
    await expect(run(provider, 1_000)).rejects.toMatchObject({ class: "rate_limit" });
    expect(provider.calls()).toBe(1);
  });

  it.each(["abort", "timeout", "context_overflow", "permanent", "unknown"] as const)("never tries again after %s", async (errorClass) => {
    const provider = providerOf([failing({ class: errorClass }), answer]);
    await expect(run(provider)).rejects.toMatchObject({ class: errorClass });
    expect(provider.calls()).toBe(1);
  });

  it("never tries again once something of an answer has come", async () => {
    const provider = providerOf([
      function* () {
        yield { kind: "thinking-delta", text: "hm" };
        yield* failing({})();
      },
      answer,
    ]);
    await expect(run(provider)).rejects.toMatchObject({ class: "transient" });
    expect(provider.calls()).toBe(1);
  });

  it("ends at its caller's deadline even where the provider goes on", async () => {
    const provider: Provider = {
      ...providerOf([]),
      async *generate(_generation, signal) {
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
        yield* answer();
      },
    };
    await expect(run(provider, 50)).rejects.toMatchObject({ class: "timeout", reason: "model_too_slow" });
  });

  it("makes one sense of how servers end an answer that asks for tools", async () => {
    const call: Delta = { kind: "tool-call", id: "1", tool: "t", argumentsJson: "{}" };
    expect(await run(providerOf([() => [call, { kind: "finish", reason: "stop", detail: "" }]]))).toMatchObject([
      call,
      { reason: "tool-calls" },
    ]);
    expect(
      await run(
        providerOf([
          () => [
            { kind: "text", text: "x" },
            { kind: "finish", reason: "tool-calls", detail: "" },
          ],
        ]),
      ),
    ).toMatchObject([{}, { reason: "stop" }]);
  });

  it("wraps what nobody expected", async () => {
    const broken = providerOf([
      () => {
        throw new RangeError("odd");
      },
    ]);
    await expect(run(broken)).rejects.toMatchObject({
      class: "unknown",
      code: "internal",
      message: "The answer of p could not be read: odd.",
    });
  });
});

import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { generate, type Retry } from "./generate.ts";
import type { Delta, Generation, AnswerEvent } from "./generation.ts";
import { KeyRing, type KeyedProvider } from "./key-ring.ts";
import type { Model } from "./model.ts";
import { ModelError } from "./model-error.ts";
import type { Provider } from "./provider.ts";
import type { Target } from "./target.ts";

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

async function run(provider: Provider, remainingMilliseconds?: number, retries: Retry[] = []): Promise<AnswerEvent[]> {
  const deltas: AnswerEvent[] = [];
  const keys = new KeyRing([{ ending: "", provider }]);
  for await (const delta of generate({ providerName: "p", name: "m", keys }, generation, {
    signal: never,
    remainingMilliseconds,
    onRetry: (retry) => retries.push(retry),
  }))
    deltas.push(delta);
  return deltas;
}

afterEach(() => vi.restoreAllMocks());

describe("generate", () => {
  it.each<[string, Delta, number]>([
    ["a text, of which the beginning is told", { kind: "text", text: "x".repeat(5 * 1024 * 1024) }, 1],
    ["a call, of which nothing is", { kind: "tool-call", id: "i", tool: "t", argumentsJson: "x".repeat(5 * 1024 * 1024) }, 0],
  ])("stops a provider that sends more at once than can be sent on: %s", async (_, delta, told) => {
    let isEnded = false;
    function* tooMuch(): Generator<Delta> {
      try {
        yield delta;
        yield* answer();
      } finally {
        isEnded = true;
      }
    }
    const provider = providerOf([tooMuch]);
    const keys = new KeyRing([{ ending: "", provider }]);
    const options = { signal: never, remainingMilliseconds: undefined, onRetry: () => undefined };
    const lengths: number[] = [];
    const read = async (): Promise<void> => {
      for await (const each of generate({ providerName: "p", name: "m", keys }, generation, options))
        lengths.push(each.kind === "text" ? each.text.length : 0);
    };
    await expect(read()).rejects.toMatchObject({ reason: "answer_too_long" });
    expect(lengths).toEqual(Array.from({ length: told }, () => 4 * 1024 * 1024));
    expect(isEnded).toBe(true);
    expect(provider.calls()).toBe(1);
  });

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

describe("with several keys", () => {
  const keyed = (...attempts: (() => Iterable<Delta>)[][]): KeyedProvider[] =>
    attempts.map((each, index) => ({ ending: `key${index + 1}`, provider: providerOf(each) }));
  const ask = async (keys: KeyRing, retries: Retry[] = [], name = "m"): Promise<AnswerEvent[]> => {
    const told: AnswerEvent[] = [];
    const options = { signal: never, remainingMilliseconds: undefined, onRetry: (retry: Retry) => void retries.push(retry) };
    for await (const each of generate({ providerName: "p", name, keys }, generation, options)) told.push(each);
    return told;
  };

  it.each([
    ["permanent", "key_refused"],
    ["permanent", "quota_spent"],
    ["permanent", "not_permitted"],
    ["rate_limit", "rate_limited"],
  ] as const)("takes the next at once after %s %s, and lets the first rest", async (kind, reason) => {
    let now = 0;
    const keys = keyed([failing({ class: kind, reason }), answer, answer], [answer, answer, answer]);
    const ring = new KeyRing(keys, () => now);
    const retries: Retry[] = [];
    expect(await ask(ring, retries)).toEqual(answer());
    expect(retries).toMatchObject([{ keyEnding: "key1", waitMilliseconds: 0, model: "p/m" }]);
    await ask(ring);
    const calls = () => keys.map(({ provider }) => (provider as ReturnType<typeof providerOf>).calls());
    expect(calls()).toEqual([1, 2]);
    // What one key may not with one model, it may with another; a key that is no good is none anywhere.
    await ask(ring, [], "other");
    expect(calls()).toEqual(reason === "key_refused" || reason === "quota_spent" ? [1, 3] : [2, 2]);
    now = 600_000;
    vi.spyOn(Math, "random").mockReturnValue(0);
    const [first] = calls();
    await ask(ring);
    expect(calls()[0]).toBe(first! + 1);
  });

  it("waits and tries again where every key is limited, and ends where every key is refused", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const limited = failing({ class: "rate_limit", reason: "rate_limited" });
    const retries: Retry[] = [];
    expect(await ask(new KeyRing(keyed([limited, answer], [limited])), retries)).toEqual(answer());
    expect(retries.map(({ keyEnding, attempt }) => [keyEnding, attempt])).toEqual([
      ["key1", 1],
      ["key2", 1],
    ]);
    const refused = failing({ class: "permanent", reason: "key_refused" });
    await expect(ask(new KeyRing(keyed([refused], [refused])))).rejects.toMatchObject({ reason: "key_refused" });
  });

  it("keeps away from a provider that fails, and not from one whose callers or whose models are at fault", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    let now = 0;
    const fails = async (fields: Parameters<typeof failing>[0], calls: number): Promise<KeyRing> => {
      const ring = new KeyRing(keyed(Array.from({ length: 100 }, () => failing(fields))), () => now);
      for (let call = 0; call < calls; call++) await expect(ask(ring)).rejects.toBeInstanceOf(ModelError);
      return ring;
    };
    for (const own of [
      { class: "permanent", reason: "request_refused" },
      { class: "context_overflow" },
      { class: "abort" },
      { class: "transient", reason: "provider_failing", message: "HTTP 500: Failed to parse input at pos 12" },
      { class: "transient", reason: "empty_answer" },
      { class: "timeout", reason: "model_too_slow" },
    ] as const) {
      const ring = await fails(own, 12);
      const lease = ring.lease("m", new Set());
      expect("index" in lease).toBe(true);
      if ("close" in lease) lease.close();
    }
    const ring = await fails({}, 3);
    const retries: Retry[] = [];
    // The tenth failure opens it: the call's next attempt would have to wait for 5 s.
    const options = { signal: never, remainingMilliseconds: 1_000, onRetry: (retry: Retry) => void retries.push(retry) };
    const asked = generate({ providerName: "p", name: "m", keys: ring }, generation, options).next();
    await expect(asked).rejects.toMatchObject({ reason: "circuit_open", class: "transient", retryAfterMilliseconds: 5_000 });
    expect(retries.length).toBe(1);
    expect(ring.lease("m", new Set())).toEqual({ waitMilliseconds: 5_000 });
    // Another model of it is another matter.
    expect(ring.lease("other", new Set())).toHaveProperty("index", 0);
    now = 5_000;
    expect(ring.lease("m", new Set())).toHaveProperty("index", 0);
  });
});

describe("with another model to fall back on", () => {
  const model = { id: "q/n", provider: "q", name: "n" } as Model;
  const alongWith = async (
    first: Provider,
    others: readonly Provider[],
    told: AnswerEvent[] = [],
  ): Promise<{ readonly told: AnswerEvent[]; readonly asked: number }> => {
    let asked = 0;
    const target = (provider: Provider, error?: ModelError): Target => ({
      providerName: error === undefined ? "p" : "q",
      name: error === undefined ? "m" : "n",
      keys: new KeyRing([{ ending: "", provider }]),
      ...(error === undefined ? {} : { servedBy: { model, why: error.message } }),
    });
    const next = (error: ModelError) => {
      const other = others[asked++];
      return Promise.resolve(other && target(other, error));
    };
    const options = { signal: never, remainingMilliseconds: undefined, onRetry: () => undefined, next };
    for await (const each of generate(target(first), generation, options)) told.push(each);
    return { told, asked };
  };
  const refused = failing({ class: "permanent", reason: "key_refused", message: "No key." });

  it("says first which model answers, and why", async () => {
    const { told } = await alongWith(providerOf([refused]), [providerOf([answer])]);
    expect(told).toEqual([{ kind: "served-by", model, why: "No key." }, ...answer()]);
    const whole: Delta[] = [{ kind: "finish", reason: "refusal", detail: "no" }];
    expect((await alongWith(providerOf([refused]), [providerOf([() => whole])])).told.map(({ kind }) => kind)).toEqual([
      "served-by",
      "finish",
    ]);
  });

  it("asks the next at once, and waits for nothing, where the model has failed again and again", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const keys = new KeyRing([{ ending: "", provider: providerOf(Array.from({ length: 10 }, () => failing({}))) }]);
    const other = new KeyRing([{ ending: "", provider: providerOf(Array.from({ length: 5 }, () => answer)) }]);
    const next = async ({ reason: why }: ModelError): Promise<Target> => ({
      providerName: "q",
      name: "n",
      keys: other,
      servedBy: { model, why },
    });
    const reasons: string[] = [];
    const retries: Retry[] = [];
    for (let call = 1; call <= 5; call++) {
      const options = { signal: never, remainingMilliseconds: undefined, onRetry: (retry: Retry) => void retries.push(retry), next };
      for await (const told of generate({ providerName: "p", name: "m", keys }, generation, options))
        if (told.kind === "served-by") reasons.push(told.why);
    }
    expect(reasons).toEqual(["r", "r", "r", "circuit_open", "circuit_open"]);
    expect(retries.filter(({ error }) => error.reason === "circuit_open")).toEqual([]);
  });

  it("asks nobody else where the model answered, or the request is at fault", async () => {
    expect((await alongWith(providerOf([answer]), [providerOf([answer])])).asked).toBe(0);
    for (const fault of [
      { class: "context_overflow" },
      { class: "permanent", reason: "request_refused" },
      { class: "unknown" },
      { class: "abort" },
    ] as const) {
      const other = providerOf([answer]);
      await expect(alongWith(providerOf([failing(fault)]), [other])).rejects.toMatchObject(fault);
      expect(other.calls()).toBe(0);
    }
  });

  it("asks nobody else once something of an answer has come", async () => {
    const cut = providerOf([
      function* () {
        yield { kind: "text", text: "half" };
      },
    ]);
    const told: AnswerEvent[] = [];
    await expect(alongWith(cut, [providerOf([answer])], told)).rejects.toMatchObject({ reason: "stream_cut" });
    expect(told.map(({ kind }) => kind)).toEqual(["text"]);
  });

  it("ends with the failure of the model that was asked, and tells of the others", async () => {
    const others = [providerOf([failing({ class: "permanent", reason: "quota_spent", message: "No money." })])];
    await expect(alongWith(providerOf([refused]), others)).rejects.toMatchObject({
      reason: "key_refused",
      message: "No key. Nor did another model of its route answer: No money.",
    });
  });
});

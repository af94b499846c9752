import { describe, expect, it } from "vitest";
import type { Generation } from "../generation.ts";
import type { ModelDescription } from "../model.ts";
import { ModelCatalogue, type CataloguedProvider } from "../model-catalogue.ts";
import { ModelError } from "../model-error.ts";
import { PermittedModels } from "../permitted-models.ts";
import { PriceTable, type PriceEntry } from "../price-table.ts";
import type { Provider } from "../provider.ts";
import { HOSTED_MODELS } from "../hosted-models.ts";
import type { ModelNeeds } from "./model-needs.ts";
import type { Route, RoutedModel } from "./route.ts";
import { Router } from "./router.ts";

const never = new AbortController().signal;
const own = (name: string, more: Partial<ModelDescription> = {}): ModelDescription => ({
  name,
  tier: "mid",
  capability: "agent",
  contextWindow: 32_768,
  ...more,
});
const down = new ModelError({ class: "transient", reason: "provider_unreachable", message: "It is down.", advice: "", provider: "down" });

function providerOf(models: readonly ModelDescription[] | ModelError, guess?: ModelDescription): Provider {
  const listed = (): Promise<readonly ModelDescription[]> =>
    models instanceof ModelError ? Promise.reject(models) : Promise.resolve(models);
  return {
    list: listed,
    describe: async (name) => (await listed()).find((model) => model.name === name) ?? guess,
    generate: () => {
      throw new Error("not asked for here");
    },
  };
}

const price = (model: string, input: bigint, output: bigint): PriceEntry => {
  const rates = { input, output, cacheRead: 0n, cacheWrite: 0n, cacheWriteHour: 0n };
  return { model, validFrom: new Date(0), rates };
};
const prices = new PriceTable([
  price("anthropic/claude-opus-5-5", 4_000n, 20_000n),
  price("anthropic/claude-sonnet-5-5", 2_000n, 10_000n),
  price("anthropic/claude-haiku-5-5", 100n, 500n),
  price("local/*", 0n, 0n),
  price("demo/*", 0n, 0n),
]);
const catalogued = (name: string, provider: Provider | undefined, more: Partial<CataloguedProvider> = {}): CataloguedProvider => ({
  name,
  provider,
  setUp: `Set up ${name}.`,
  known: [own("known")],
  ...more,
});
const anthropic = catalogued("anthropic", providerOf(HOSTED_MODELS.anthropic));
const local = catalogued("local", providerOf([own("small", { tier: "weak" })]), { isLocal: true });
const other = catalogued("other", providerOf([own("listed"), own("talker", { capability: "chat" })], own("unlisted", { isGuess: true })));
const demo = catalogued("demo", providerOf([own("rules")]), { isLocal: true, isStandIn: true });
const ollama = catalogued("ollama", providerOf([own("apart", { tier: "frontier" })]), { isApart: true });
const everything = [anthropic, catalogued("openai", undefined), local, catalogued("down", providerOf(down)), other, ollama, demo];

interface Given {
  readonly providers?: readonly CataloguedProvider[];
  readonly models?: readonly RoutedModel[];
  readonly needs?: ModelNeeds;
  readonly permitted?: readonly string[];
  readonly random?: number;
}

function routerOf({ providers = everything, models = [], needs = {}, permitted = [], random = 0 }: Given = {}): Router {
  const route: Route = { name: "r", models, needs };
  const catalogue = new ModelCatalogue(providers, "", ["anthropic", "demo"], new PermittedModels(permitted));
  return new Router({ catalogue, routes: new Map([["r", route]]), prices, random: () => random });
}

const resolved = async (router: Router, wanted: string, task = "", needs: ModelNeeds = {}): Promise<string> =>
  (await router.resolve(wanted, { task, needs }, never)).model.id;
const ordered = (...ids: string[]): RoutedModel[] => ids.map((id) => ({ id }));

describe("a model that is named", () => {
  it("is never another one: not found, capability unknown and not permitted are three errors", async () => {
    const router = routerOf({ permitted: ["anthropic/claude-haiku*", "other/*", "local/*"] });
    await expect(resolved(router, "local/none")).rejects.toMatchObject({ reason: "model_not_found", code: "not_found" });
    await expect(resolved(router, "other/unlisted", "", { documents: true })).rejects.toMatchObject({ reason: "model_capability_unknown" });
    await expect(resolved(router, "anthropic/claude-opus-5-5")).rejects.toMatchObject({
      reason: "model_not_permitted",
      code: "permission_denied",
    });
    await expect(resolved(router, "demo/rules")).rejects.toMatchObject({
      reason: "model_not_permitted",
      advice: expect.stringContaining("HLVM_ALLOWED_MODELS"),
    });
    await expect(resolved(router, "down/x")).rejects.toMatchObject({ reason: "model_not_permitted" });
    await expect(resolved(routerOf(), "down/x")).rejects.toMatchObject({ reason: "provider_unreachable" });
    expect(await router.resolve("other/unlisted", { task: "", needs: { tools: true } }, never)).toMatchObject({
      model: { isGuess: true, isAvailable: true },
      route: "",
    });
  });

  it("has nobody answer in its place", () => {
    expect(routerOf().next({ route: "", model: "anthropic/claude-opus-5-5", needs: {} }, {} as Generation, never)).toBeUndefined();
  });

  it("is not the default where it is not permitted", async () => {
    expect(await resolved(routerOf({ permitted: ["demo/*"] }), "")).toBe("demo/rules");
    expect(await resolved(routerOf({ permitted: ["*/claude-sonnet*"] }), "")).toBe("anthropic/claude-sonnet-5-5");
    const shown = await new ModelCatalogue([demo], "", ["demo"], new PermittedModels(["anthropic/*"])).list(never);
    expect(shown).toMatchObject([{ id: "demo/rules", isAvailable: false, advice: expect.stringContaining("does not permit") }]);
  });
});

describe("auto", () => {
  it.each([
    ["What is this?", "anthropic/claude-haiku-5-5"],
    ["Fix the deadlock in the worker and explain why it happens", "anthropic/claude-opus-5-5"],
    ["Refactor this function as cheaply as you can", "anthropic/claude-haiku-5-5"],
    ["Prove that the algorithm ends", "anthropic/claude-opus-5-5"],
  ])("takes for %j: %s", async (task, id) => {
    expect(await resolved(routerOf({ providers: [anthropic, demo] }), "auto", task)).toBe(id);
  });

  it("takes what is there, a stand-in only where nothing else is left, and an Ollama never", async () => {
    expect(await resolved(routerOf({ providers: [ollama, demo, local] }), "auto")).toBe("local/small");
    expect(await resolved(routerOf({ providers: [ollama, demo, catalogued("down", providerOf(down))] }), "auto")).toBe("demo/rules");
    await expect(resolved(routerOf({ providers: [ollama] }), "auto")).rejects.toMatchObject({ reason: "no_model_fits" });
  });

  it("leaves out what lacks something, and says what and why", async () => {
    const needs = { tools: true, images: true, contextWindow: 40_000, outputPrice: 10_000n };
    const { ranked, leftOut, words } = await routerOf({ permitted: ["anthropic/*", "other/*", "local/*", "down/*"] }).explain(
      "auto",
      { task: "a screenshot", needs },
      never,
    );
    expect(ranked.map(({ model }) => model.id)).toEqual(["anthropic/claude-haiku-5-5", "anthropic/claude-sonnet-5-5"]);
    expect(leftOut.map(({ id, reason }) => [id, reason])).toEqual([
      ["anthropic/claude-opus-5-5", "too_expensive"],
      ["local/small", "no_images"],
      ["other/listed", "no_images"],
      ["other/talker", "no_tools"],
      ["openai/known", "not_available"],
      ["down/known", "not_available"],
      ["demo/rules", "not_available"],
    ]);
    expect(words).toEqual([{ word: "screenshot", part: "images" }]);
    const [{ parts, score }] = ranked as [(typeof ranked)[0]];
    const weights = parts.reduce((sum, { weight }) => sum + weight, 0);
    expect(parts.reduce((sum, { value, weight }) => sum + value * weight, 0) / weights).toBeCloseTo(score, 12);
    expect(parts.find(({ name }) => name === "images")).toMatchObject({ value: 1, weight: 2 });
  });

  it("chooses the same of equal ones every time", async () => {
    const twins = [catalogued("b", providerOf([own("x"), own("a")])), catalogued("a", providerOf([own("x")]))];
    for (let time = 0; time < 5; time++) expect(await resolved(routerOf({ providers: twins }), "auto", "fix it")).toBe("b/x");
  });

  it("sends nothing away where only local models may be taken", async () => {
    expect(await resolved(routerOf(), "auto", "Prove it", { localOnly: true })).toBe("local/small");
    await expect(resolved(routerOf({ providers: [anthropic] }), "auto", "", { localOnly: true })).rejects.toMatchObject({
      reason: "no_model_fits",
      message: expect.stringContaining("claude-opus-5-5 (not_local"),
    });
  });
});

describe("a route", () => {
  it("takes the first that can be taken, and says why not the others", async () => {
    const router = routerOf({
      models: ordered("openai/x", "down/x", "other/talker", "other/unlisted", "local/small"),
      needs: { tools: true },
    });
    const { ranked, leftOut } = await router.explain("route/r", { task: "", needs: {} }, never);
    expect(ranked.map(({ model }) => model.id)).toEqual(["local/small"]);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      "provider_not_set_up",
      "provider_unreachable",
      "no_tools",
      "model_capability_unknown",
    ]);
    expect(await router.resolve("route/r", { task: "", needs: {} }, never)).toMatchObject({
      route: "route/r",
      model: { id: "local/small" },
    });
  });

  it("that is weighted is drawn by weight among those that fit", async () => {
    const models = [
      { id: "local/small", weight: 1 },
      { id: "openai/x", weight: 100 },
      { id: "demo/rules", weight: 3 },
    ];
    for (const [random, id] of [
      [0, "demo/rules"],
      [0.74, "demo/rules"],
      [0.76, "local/small"],
      [0.999, "local/small"],
    ] as const)
      expect(await resolved(routerOf({ models, random }), "route/r")).toBe(id);
  });

  it("that there is none of is told with those that there are", async () => {
    await expect(resolved(routerOf({ models: ordered("demo/rules") }), "route/none")).rejects.toMatchObject({
      reason: "route_not_found",
      advice: "Take auto, or one of r.",
    });
  });
});

describe("in the place of one that failed", () => {
  const generation: Generation = {
    model: "x",
    messages: [{ role: "user", parts: [{ kind: "text", text: "?" }] }],
    tools: [{ name: "t", description: "", inputSchema: {} }],
    maximumOutputTokens: 100,
    temperature: undefined,
  };
  const failed = (message: string) => new ModelError({ class: "transient", reason: "r", message, advice: "", provider: "p" });
  const others = async (route: string, router: Router, asked = generation): Promise<(string | undefined)[]> => {
    const next = router.next({ route, model: "anthropic/claude-opus-5-5", needs: {} }, asked, never)!;
    const ids: (string | undefined)[] = [];
    for (let place = 1; place < 6; place++) {
      const target = await next(failed(`failure ${place}`));
      if (target === undefined) break;
      expect(target.servedBy?.why).toBe("failure 1");
      ids.push(target.servedBy?.model.id);
    }
    return ids;
  };

  it("come the others of its route that can take the request, and it no second time", async () => {
    const models = ordered("anthropic/claude-opus-5-5", "other/talker", "local/small", "anthropic/claude-haiku-5-5");
    expect(await others("route/r", routerOf({ models }))).toEqual(["local/small", "anthropic/claude-haiku-5-5"]);
    const long = { ...generation, messages: [{ role: "user" as const, parts: [{ kind: "text" as const, text: "x".repeat(140_000) }] }] };
    expect(await others("route/r", routerOf({ models }), long)).toEqual(["anthropic/claude-haiku-5-5"]);
    expect(await others("auto", routerOf())).toContain("anthropic/claude-sonnet-5-5");
    expect(await others("auto", routerOf())).not.toContain("ollama/apart");
  });

  it("comes nobody where the route is gone", async () => {
    expect(await others("route/none", routerOf())).toEqual([]);
  });
});

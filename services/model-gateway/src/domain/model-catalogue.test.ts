import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ModelDescription } from "./model.ts";
import { ModelCatalogue, type CataloguedProvider } from "./model-catalogue.ts";
import { ModelError } from "./model-error.ts";
import type { Provider } from "./provider.ts";

const never = new AbortController().signal;

function model(name: string): ModelDescription {
  return { name, tier: "mid", capability: "agent", contextWindow: 1_000 };
}

function providerOf(...names: string[]): Provider {
  return {
    list: () => Promise.resolve(names.map(model)),
    describe: (name) => Promise.resolve(names.includes(name) ? model(name) : undefined),
    generate: () => {
      throw new Error("not asked for here");
    },
  };
}

function down(): Provider {
  const error = new ModelError({
    class: "transient",
    reason: "provider_unreachable",
    message: "llama cannot be reached.",
    advice: "Start it.",
    provider: "llama",
  });
  return { ...providerOf(), list: () => Promise.reject(error), describe: () => Promise.reject(error) };
}

function catalogueOf(
  providers: Readonly<Record<string, Provider | undefined>>,
  chosen = "",
  order = Object.keys(providers),
): ModelCatalogue {
  const entries = Object.entries(providers).map(([name, provider]): CataloguedProvider => ({
    name,
    provider,
    setUp: `Set up ${name}.`,
    known: [model("known")],
  }));
  return new ModelCatalogue(entries, chosen, order);
}

describe("resolve", () => {
  it("takes the first in order that is set up, and its first model", async () => {
    const catalogue = catalogueOf({ a: undefined, b: providerOf("one", "two"), c: providerOf("x") });
    expect(await catalogue.resolve("", never)).toMatchObject({ id: "b/one", isDefault: true });
  });

  it("takes the configured model before that", async () => {
    expect(await catalogueOf({ b: providerOf("one"), c: providerOf("x") }, "c/x").resolve("", never)).toMatchObject({
      id: "c/x",
      isDefault: true,
    });
  });

  it("does not replace the first by another when it is down", async () => {
    await expect(catalogueOf({ llama: down(), demo: providerOf("rules") }).resolve("", never)).rejects.toMatchObject({
      reason: "provider_unreachable",
    });
  });

  it("takes no other in the place of one whose keys cannot be read for the moment, and others by their names", async () => {
    const failure = new HlvmError({ code: "unavailable", reason: "keys_unavailable", message: "Not now." });
    const known: CataloguedProvider[] = [
      { name: "a", provider: undefined, failure, setUp: "Not now.", known: [] },
      { name: "b", provider: providerOf("one"), setUp: "", known: [] },
    ];
    const catalogue = new ModelCatalogue(known, "", ["a", "b"]);
    await expect(catalogue.resolve("", never)).rejects.toBe(failure);
    expect(() => catalogue.find("a/one")).toThrow(failure);
    expect(await catalogue.resolve("b/one", never)).toMatchObject({ id: "b/one", isDefault: false });
    expect((await catalogue.list(never)).map(({ id, isDefault }) => [id, isDefault])).toEqual([
      ["a/*", false],
      ["b/one", false],
    ]);
  });

  it("asks nobody else about a model that is named", async () => {
    const catalogue = catalogueOf({ llama: down(), demo: providerOf("rules") });
    expect(await catalogue.resolve("demo/rules", never)).toMatchObject({ id: "demo/rules", isDefault: false });
    expect(await catalogueOf({ demo: providerOf("rules", "more") }).resolve("demo/rules", never)).toMatchObject({ isDefault: true });
  });

  it("lets a name hold slashes", async () => {
    expect(await catalogueOf({ llama: providerOf("/models/a.gguf") }).resolve("llama//models/a.gguf", never)).toMatchObject({
      name: "/models/a.gguf",
    });
  });

  it("names the models that there are in place of an unknown one", async () => {
    await expect(catalogueOf({ b: providerOf("one", "two") }).resolve("b/three", never)).rejects.toMatchObject({
      code: "not_found",
      reason: "model_not_found",
      advice: "b offers: b/one, b/two.",
    });
  });

  it.each(["x", "/x", "x/"])("refuses a name that is none: %j", async (name) => {
    await expect(catalogueOf({ b: providerOf("one") }).resolve(name, never)).rejects.toMatchObject({ reason: "model_name_malformed" });
  });
});

describe("list", () => {
  it("shows what cannot be used, with the reason", async () => {
    const models = await catalogueOf({ a: undefined, llama: down(), demo: providerOf("rules") }, "demo/rules").list(never);
    expect(models.map(({ id, isAvailable, isDefault, advice }) => [id, isAvailable, isDefault, advice])).toEqual([
      ["a/known", false, false, "Set up a."],
      ["llama/known", false, false, "llama cannot be reached. Start it."],
      ["demo/rules", true, true, ""],
    ]);
  });
});

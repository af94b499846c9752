import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { HOSTED_MODELS } from "../domain/hosted-models.ts";
import { PriceTable } from "../domain/price-table.ts";
import { readPrices } from "./read-prices.ts";

const OURS = fileURLToPath(new URL("../../prices.json", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hlvm-prices-"));
const ours = readPrices(OURS);

afterAll(() => rmSync(folder, { recursive: true }));

function written(content: unknown): string {
  const path = join(folder, "prices.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const entry = { model: "acme/one", from: "2026-11-01", input: "1.5", output: "6" };

describe("the prices that come with HLVM", () => {
  const table = new PriceTable(ours);

  it.each(Object.entries(HOSTED_MODELS).flatMap(([provider, models]) => models.map(({ name }) => `${provider}/${name}`)))(
    "know what %s costs",
    (model) => expect(table.pricesOf(model)).not.toEqual([]),
  );

  it("have whole nano-dollars a token, the oldest price first", () => {
    expect(table.pricesOf("anthropic/claude-sonnet-5-5").map(({ validFrom, rates }) => [validFrom.toISOString(), rates.cacheRead])).toEqual(
      [
        ["2026-09-28T00:00:00.000Z", 200n],
        ["2026-10-07T00:00:00.000Z", 100n],
      ],
    );
    expect(table.pricesOf("anthropic/claude-haiku-5-5")[0]).toMatchObject({
      rates: { input: 100n, output: 500n, cacheRead: 10n, cacheWrite: 125n, cacheWriteHour: 200n },
      longInput: { above: 100_000, rates: { cacheWrite: 625n, cacheWriteHour: 1_000n } },
    });
  });

  it("say that what runs here costs nothing, and nothing of a model that they do not know", () => {
    expect(table.pricesOf("llama/anything")[0]?.rates).toMatchObject({ input: 0n, output: 0n });
    expect(table.pricesOf("demo/rules")).toHaveLength(1);
    expect(table.pricesOf("openai/gpt-99")).toEqual([]);
    expect(table.pricesOf("openai-compatible/x")).toEqual([]);
  });
});

describe("an operator's file", () => {
  it("replaces what is known of a model, and adds others", () => {
    const own = readPrices(written({ prices: [entry, { ...entry, model: "openai/gpt-5.5" }, { ...entry, model: "llama/*" }] }));
    const table = new PriceTable(ours, own);
    expect(table.pricesOf("openai/gpt-5.5").map(({ rates }) => rates.input)).toEqual([1_500n]);
    expect(table.pricesOf("acme/one")[0]?.rates).toEqual({
      input: 1_500n,
      output: 6_000n,
      cacheRead: 1_500n,
      cacheWrite: 1_500n,
      cacheWriteHour: 1_500n,
    });
    expect(table.pricesOf("llama/x")[0]?.rates.output).toBe(6_000n);
    expect(table.pricesOf("anthropic/claude-opus-5-5")[0]?.rates.output).toBe(20_000n);
  });

  it.each([
    ["no JSON", "{"],
    ["no list", { prices: {} }],
    ["a number in place of a text", { prices: [{ ...entry, input: 1.5 }] }],
    ["a fourth place", { prices: [{ ...entry, input: "0.0001" }] }],
    ["a negative price", { prices: [{ ...entry, output: "-1" }] }],
    ["no output", { prices: [{ ...entry, output: undefined }] }],
    ["a day that is none", { prices: [{ ...entry, from: "2026-02-31" }] }],
    ["a model without a provider", { prices: [{ ...entry, model: "one" }] }],
    ["a misspelt field", { prices: [{ ...entry, cache_read: "1" }] }],
    ["a long input without a bound", { prices: [{ ...entry, longInput: { input: "1", output: "1" } }] }],
  ])("with %s is refused, with the file's name", (_, content) => {
    expect(() => readPrices(written(content))).toThrow(
      expect.objectContaining({ reason: "prices_unreadable", message: expect.stringContaining("prices.json") }),
    );
  });
});

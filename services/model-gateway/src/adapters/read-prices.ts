import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { PriceEntry, TokenRates } from "../domain/price-table.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A price of a thousandth of a dollar for a million tokens is one nano-dollar a token. */
const DECIMAL = /^(\d{1,6})(?:\.(\d{1,3}))?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const RATES = ["input", "output", "cacheRead", "cacheWrite", "cacheWriteHour", "reasoning"];

/**
 * The prices in a file: `{"prices": [{"model": "provider/name", "from": "2026-11-23", "input": "2.50", …}]}`, in US dollars for a
 * million tokens. They are texts, because a number in JSON is a fraction of powers of two.
 * @throws HlvmError `prices_unreadable`, which names the entry
 */
export function readPrices(path: string): readonly PriceEntry[] {
  try {
    const { prices } = objectOf(JSON.parse(readFileSync(path, "utf8")), "the file");
    if (!Array.isArray(prices)) throw new Error("it has no list `prices`");
    return prices.map((entry, index) => entryOf(objectOf(entry, `prices[${index}]`), `prices[${index}]`));
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "prices_unreadable",
      message: `The prices in ${path} cannot be used: ${messageOf(cause)}.`,
      advice: "Correct it, or leave HLVM_PRICES_FILE empty; services/model-gateway/prices.json shows the form.",
      cause,
    });
  }
}

function entryOf(fields: Fields, where: string): PriceEntry {
  const { model, from, longInput } = fields;
  if (typeof model !== "string" || !/^[^/]+\/./.test(model)) throw new Error(`${where}.model is not provider/name`);
  const unknown = Object.keys(fields).find((name) => !["model", "from", "source", "longInput", ...RATES].includes(name));
  if (unknown !== undefined) throw new Error(`${where} has an unknown field ${JSON.stringify(unknown)}`);
  const validFrom = new Date(typeof from === "string" && DAY.test(from) ? from : Number.NaN);
  if (Number.isNaN(validFrom.getTime()) || validFrom.toISOString().slice(0, 10) !== from)
    throw new Error(`${where}.from is not a day such as 2026-11-23`);
  const price = { model, validFrom, rates: ratesOf(fields, where) };
  if (longInput === undefined) return price;
  const long = objectOf(longInput, `${where}.longInput`);
  if (typeof long.above !== "number" || !Number.isSafeInteger(long.above) || long.above < 1)
    throw new Error(`${where}.longInput.above is not a number of tokens`);
  return { ...price, longInput: { above: long.above, rates: ratesOf(long, `${where}.longInput`) } };
}

/** What a provider has no price of its own for is its next class: input. */
function ratesOf(fields: Fields, where: string): TokenRates {
  const rate = (name: string, fallback?: bigint): bigint => {
    const value = fields[name];
    if (value === undefined && fallback !== undefined) return fallback;
    const decimal = typeof value === "string" ? DECIMAL.exec(value) : null;
    if (decimal === null) throw new Error(`${where}.${name} is not a text such as "2.50", with at most three places`);
    return BigInt(decimal[1]! + (decimal[2] ?? "").padEnd(3, "0"));
  };
  const input = rate("input");
  const cacheWrite = rate("cacheWrite", input);
  return {
    input,
    output: rate("output"),
    cacheRead: rate("cacheRead", input),
    cacheWrite,
    cacheWriteHour: rate("cacheWriteHour", cacheWrite),
    ...(fields.reasoning === undefined ? {} : { reasoning: rate("reasoning") }),
  };
}

function objectOf(value: unknown, where: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error(`${where} is no JSON object`);
}

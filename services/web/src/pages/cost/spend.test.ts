import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { UsageRowSchema } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { moneyWord, spendOf } from "./spend.ts";

const row = (day: string, name: string, nanoDollars: bigint, unpricedCalls = 0) =>
  create(UsageRowSchema, { keys: [day, name], calls: 1n, cost: { nanoDollars, unpricedCalls }, usage: { inputTokens: 10n } });
const until = new Date("2026-11-23T15:00:00Z");

it("stacks what was spent day by day, days without a call too, the dearest first", () => {
  const rows = [row("2026-11-21", "a/x", 1n), row("2026-11-23", "a/x", 2n), row("2026-11-23", "a/y", 9n), row("2026-11-01", "a/y", 5n)];
  const { days, series, costs } = spendOf(rows, 3, until);
  expect(days).toEqual(["2026-11-21", "2026-11-22", "2026-11-23"]);
  expect(series.map(({ name, nanoDollars, calls }) => [name, nanoDollars, calls])).toEqual([
    ["a/y", 14, 2],
    ["a/x", 3, 2],
  ]);
  expect(costs).toEqual([
    [0, 0, 9],
    [1, 0, 2],
  ]);
});

it("puts together what colours could not tell apart, and names who is nobody", () => {
  const rows = Array.from({ length: 7 }, (_, at) => row("2026-11-23", at === 0 ? "" : `m${at}`, BigInt(100 - at)));
  const { series } = spendOf(rows, 1, until);
  expect(series.map(({ name, isRest }) => [name, isRest])).toEqual([
    ["none", false],
    ["m1", false],
    ["m2", false],
    ["m3", false],
    ["3 others", true],
  ]);
  expect(series.at(-1)!.nanoDollars).toBe(96 + 95 + 94);
});

it("says money as far as it is known", () => {
  expect([moneyWord(0n), moneyWord(0n, 2), moneyWord(12_300_000_000n), moneyWord(12_300_000_000n, 1), moneyWord(4_200_000n)]).toEqual([
    "$0.00",
    "unknown",
    "$12.30",
    "$12.30 +",
    "$0.004200",
  ]);
});

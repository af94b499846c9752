import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCount, parseDollars, parseDuration } from "./parse-amount.ts";

describe("an amount of money", () => {
  it.each([
    ["0.50", 500_000_000n],
    ["$20", 20_000_000_000n],
    ["0.000000001", 1n],
    ["0", 0n],
    ["0.1", 100_000_000n],
  ])("%s is exact", (text, nanoDollars) => expect(parseDollars(text)).toBe(nanoDollars));

  it("is the same in nano-dollars however it is written", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 18n - 1n), (nanoDollars) => {
        const text = `${nanoDollars / 10n ** 9n}.${String(nanoDollars % 10n ** 9n).padStart(9, "0")}`;
        expect(parseDollars(text)).toBe(nanoDollars);
      }),
    );
  });

  it.each(["", "-1", "1e3", "1.0000000001", "1,50", ".5", "free", "Infinity", "0x10", "1."])("is not %j", (text) =>
    expect(parseDollars(text)).toBeUndefined(),
  );
});

it("counts in thousands and millions", () => {
  expect([parseCount("200000"), parseCount("200k"), parseCount("2M"), parseCount("1.5M"), parseCount("-1")]).toEqual([
    200_000n,
    200_000n,
    2_000_000n,
    undefined,
    undefined,
  ]);
});

it("knows seconds, minutes and hours", () => {
  expect([parseDuration("90s"), parseDuration("20m"), parseDuration("2h"), parseDuration("20"), parseDuration("1d")]).toEqual([
    90_000n,
    1_200_000n,
    7_200_000n,
    undefined,
    undefined,
  ]);
});

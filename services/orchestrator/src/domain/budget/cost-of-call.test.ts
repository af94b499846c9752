import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelPriceSchema, UsageSchema, type ModelPrice, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { costOfCall, highestCost, outputWithin } from "./cost-of-call.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-01-01");
const tokens = fc.bigInt(0n, 10n ** 12n);
const rate = fc.bigInt(0n, 10n ** 7n);
const usages = fc
  .record({ inputTokens: tokens, outputTokens: tokens, cacheReadTokens: tokens, cacheWriteTokens: tokens, reasoningTokens: tokens })
  .map((fields) => create(UsageSchema, { ...fields, cacheWriteHourTokens: fields.cacheWriteTokens / 3n }));
const rates = fc.record({ input: rate, output: rate, cacheRead: rate, cacheWrite: rate, cacheWriteHour: rate });

function price(from: number, of: Partial<Record<"input" | "output" | "cacheRead" | "cacheWrite" | "cacheWriteHour", bigint>>): ModelPrice {
  return create(ModelPriceSchema, { validFrom: timestampFromDate(new Date(from)), rates: of });
}
const usage = (of: Partial<Usage>): Usage => create(UsageSchema, of as Usage);
const now = new Date(START + 30 * DAY);

describe("what a call costs", () => {
  it("is the exact sum over the classes of token, however large", () => {
    fc.assert(
      fc.property(usages, rates, (used, of) => {
        const { whole, input } = costOfCall(used, { prices: [price(START, of)] }, now)!;
        const expected =
          used.inputTokens * of.input +
          used.cacheReadTokens * of.cacheRead +
          (used.cacheWriteTokens - used.cacheWriteHourTokens) * of.cacheWrite +
          used.cacheWriteHourTokens * of.cacheWriteHour;
        expect(input).toBe(expected);
        expect(whole).toBe(expected + used.outputTokens * of.output);
      }),
    );
  });

  it("of several calls is that of their sum, where none is long: nothing is rounded", () => {
    fc.assert(
      fc.property(fc.array(usages, { maxLength: 20 }), rates, (calls, of) => {
        const prices = [price(START, of)];
        const sum = (field: keyof Usage): bigint => calls.reduce((all, call) => all + (call[field] as bigint), 0n);
        const together = usage({
          inputTokens: sum("inputTokens"),
          outputTokens: sum("outputTokens"),
          cacheReadTokens: sum("cacheReadTokens"),
          cacheWriteTokens: sum("cacheWriteTokens"),
          cacheWriteHourTokens: sum("cacheWriteHourTokens"),
        });
        const apart = calls.reduce((all, call) => all + costOfCall(call, { prices }, now)!.whole, 0n);
        expect(costOfCall(together, { prices }, now)!.whole).toBe(apart);
      }),
    );
  });

  it("is never more than what was reserved for it, and what is left pays for the output that is let through", () => {
    fc.assert(
      fc.property(tokens, tokens, tokens, rates, (input, output, amount, of) => {
        const model = { prices: [price(START, { ...of, cacheWriteHour: 0n })] };
        const called = usage({ inputTokens: input, outputTokens: output });
        expect(costOfCall(called, model, now)!.whole <= highestCost(input, output, model, now)!).toBe(true);
        const affordable = outputWithin(amount, input, model, now) ?? 0n;
        expect(affordable === 0n || highestCost(input, affordable, model, now)! <= amount).toBe(true);
      }),
    );
  });

  it("is by the price of its day, and by the other one where its input is long", () => {
    const prices = [
      price(START, { input: 10n }),
      create(ModelPriceSchema, {
        validFrom: timestampFromDate(new Date(START + 20 * DAY)),
        rates: { input: 5n, output: 1n },
        longInputTokens: 100n,
        longInputRates: { input: 7n, output: 2n },
      }),
    ];
    const called = usage({ inputTokens: 60n, outputTokens: 1n });
    expect(costOfCall(called, { prices }, new Date(START + 19 * DAY))?.whole).toBe(600n);
    expect(costOfCall(called, { prices }, now)?.whole).toBe(301n);
    expect(costOfCall(usage({ ...called, cacheReadTokens: 40n }), { prices }, now)?.whole).toBe(301n);
    expect(costOfCall(usage({ ...called, cacheReadTokens: 41n }), { prices }, now)?.whole).toBe(422n);
  });

  it("is unknown, and not nothing, for a model without a price and before its first price", () => {
    expect(costOfCall(usage({ inputTokens: 1n }), { prices: [] }, now)).toBeUndefined();
    expect(costOfCall(usage({}), { prices: [price(START, { input: 1n })] }, new Date(START - 1))).toBeUndefined();
    expect(highestCost(1n, 1n, { prices: [] }, now)).toBeUndefined();
  });

  it("counts reasoning apart where it has a price of its own", () => {
    const model = {
      prices: [create(ModelPriceSchema, { validFrom: timestampFromDate(new Date(START)), rates: { output: 2n, reasoning: 9n } })],
    };
    expect(costOfCall(usage({ outputTokens: 10n, reasoningTokens: 4n }), model, now)?.whole).toBe(48n);
  });
});

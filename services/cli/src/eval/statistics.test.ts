import { describe, expect, it } from "vitest";
import { bootstrapInterval, mean, passAll, passAny, wilsonInterval } from "./statistics.ts";

describe("statistics of trials", () => {
  it.each([
    // By Brown, Cai and DasGupta's formula, worked out by hand.
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [5, 10, 0.2366, 0.7634],
    [1, 4, 0.0456, 0.6994],
  ])("Wilson's interval of %d of %d is %f to %f", (passed, count, low, high) => {
    const interval = wilsonInterval(passed, count);
    expect(interval.low).toBeCloseTo(low, 3);
    expect(interval.high).toBeCloseTo(high, 3);
  });

  it("knows nothing where nothing was tried", () => {
    expect([wilsonInterval(0, 0), bootstrapInterval([])]).toEqual([
      { low: 0, high: 1 },
      { low: 0, high: 1 },
    ]);
    expect(mean([])).toBe(0);
  });

  it("gives the same interval for the same tasks, around their mean, and none wider where all are alike", () => {
    const values = [0, 0.25, 0.5, 1, 1, 1, 0.75, 0, 1, 0.5, 1, 0];
    const interval = bootstrapInterval(values);
    expect(bootstrapInterval(values)).toEqual(interval);
    expect(interval.low).toBeLessThan(mean(values));
    expect(interval.high).toBeGreaterThan(mean(values));
    // The standard error is 0.12.
    expect(interval.high - interval.low).toBeCloseTo(0.47, 1);
    expect(bootstrapInterval([0.5, 0.5, 0.5])).toEqual({ low: 0.5, high: 0.5 });
  });

  it("tells how likely any of several passes", () => {
    // 1 - C(3,2)/C(4,2) is a half.
    expect([passAny(1, 4, 2), passAny(1, 4, 4), passAny(0, 4, 4), passAny(4, 4, 1)]).toEqual([0.5, 1, 0, 1]);
  });

  it("tells how likely all of several pass", () => {
    expect([passAll(4, 4, 4), passAll(3, 4, 4), passAll(3, 4, 2), passAll(0, 4, 1)]).toEqual([1, 0, 0.5, 0]);
  });
});

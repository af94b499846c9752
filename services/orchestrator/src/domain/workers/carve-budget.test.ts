import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { carveBudget } from "./carve-budget.ts";
import { workerIds } from "./worker-ids.ts";

const rest = fc.record({ turns: fc.integer({ min: -5, max: 1_000 }), milliseconds: fc.integer({ min: -1_000, max: 90_000_000 }) });
const asked = fc.record({ turns: fc.integer({ min: 1, max: 1_000 }), seconds: fc.integer({ min: 1, max: 86_400 }) }, { requiredKeys: [] });

describe("carveBudget", () => {
  it("gives workers together never more than their parent has, whatever they ask for", () => {
    fc.assert(
      fc.property(rest, fc.array(asked, { minLength: 1, maxLength: 30 }), (left, all) => {
        const carved = all.map((one) => carveBudget(left, one, all.length));
        const turns = carved.reduce((sum, budget) => sum + (budget?.turns ?? 0), 0);
        expect(turns).toBeLessThanOrEqual(Math.max(0, left.turns));
        for (const budget of carved) expect(budget?.milliseconds ?? 0).toBeLessThanOrEqual(Math.max(0, left.milliseconds));
        for (const [index, budget] of carved.entries()) {
          expect(budget?.turns ?? 0).toBeLessThanOrEqual(all[index]!.turns ?? Infinity);
          expect(budget === undefined || (budget.turns >= 1 && budget.milliseconds >= 1_000)).toBe(true);
        }
      }),
    );
  });
});

describe("workerIds", () => {
  it("are the same for the same call, and UUIDs", () => {
    const { sessionId, runId } = workerIds("r.1.2");
    expect(workerIds("r.1.2")).toEqual({ sessionId, runId });
    expect(new Set([sessionId, runId, workerIds("r.1.3").sessionId]).size).toBe(3);
    for (const id of [sessionId, runId]) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { fittingName } from "./fitting-name.ts";

const ALLOWED = /^[\w-]{1,40}$/;

it("leaves a name alone that fits", () => {
  expect(fittingName("toolu_01-abc", ALLOWED)).toBe("toolu_01-abc");
});

it("makes any other name fit, one and the same for the same, and never one for two", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.string({ maxLength: 80 }), (one, other) => {
      const fitting = fittingName(one, ALLOWED);
      expect(fitting).toMatch(ALLOWED);
      expect(fittingName(one, ALLOWED)).toBe(fitting);
      expect(fittingName(other, ALLOWED) === fitting).toBe(one === other);
    }),
  );
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonLine } from "./json-line.ts";

it("keeps every value and lets no control or hidden character out", () => {
  const hidden = fc.constantFrom("\u001b", "\u009b", "\u202e", "\u200b", "\u{e0041}", "\u2028", "\ud800");
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: "binary" }), hidden, fc.array(hidden))), (value) => {
      const line = jsonLine(value);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u200b-\u200f\u2028-\u202e\u{e0000}-\u{e01ef}]/u);
      expect(line.endsWith("\n")).toBe(true);
    }),
  );
});

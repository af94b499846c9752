import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalArguments } from "./canonical-arguments.ts";

describe("canonicalArguments", () => {
  it("gives one hash to one object, whatever the order and spacing of its keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object);
        const turned = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).toReversed()), null, 2);
        expect(canonicalArguments(turned).hash).toBe(canonicalArguments(text).hash);
      }),
    );
  });

  it("gives another hash to other bytes", () => {
    expect(canonicalArguments('{"command":"ls"}').hash).not.toBe(canonicalArguments('{"command":"ls "}').hash);
  });

  it.each(["", "[]", "null", '"x"', "{", "7"])("refuses %j: it is not a JSON object", (text) => {
    expect(() => canonicalArguments(text)).toThrow(expect.objectContaining({ reason: "invalid_arguments" }));
  });
});

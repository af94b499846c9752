import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CappedText } from "./capped-text.ts";

describe("CappedText", () => {
  it("keeps a short text whole, however it arrives", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 8 }), (pieces) => {
        const capped = new CappedText(4_096);
        for (const piece of pieces) capped.push(Buffer.from(piece));
        expect(capped.toString()).toBe(Buffer.from(pieces.join("")).toString());
      }),
    );
  });

  it("shows beginning and end of a long text, and says how much is left out", () => {
    const capped = new CappedText(10);
    for (const piece of ["abc", "defgh", "ijklmno", "pqrst", "uvwxyz"]) capped.push(Buffer.from(piece));
    expect(capped.isCut).toBe(true);
    expect(capped.bytes).toBe(26);
    expect(capped.toString()).toBe("abcde\n[… 16 bytes left out …]\nvwxyz");
  });

  it("cuts no character in two", () => {
    const capped = new CappedText(10);
    capped.push(Buffer.from("ääääääääääää"));
    expect(capped.toString()).toBe("ää\n[… 14 bytes left out …]\nää");
  });
});

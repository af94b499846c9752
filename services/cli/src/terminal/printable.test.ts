import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable, printableLine } from "./printable.ts";

/** Any text, and often such as an attacker would choose. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.constantFrom(
        "\u001b[2J",
        "\u001b]52;c;AAAA\u0007",
        "\u009b31m",
        "\r",
        "\r\n",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u200d",
        "\u200c",
        "\ufeff",
        "\u{e0041}",
        "\ufe0f",
        "\ud800",
        "👩",
        "ی",
        "a",
      ),
    ),
  )
  .map((pieces) => pieces.join(""));

describe("printable", () => {
  it("lets no control character, bidirectional mark, tag or lone surrogate through, whatever the text", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = printable(text);
        expect(shown.replaceAll(/[\n\t]/g, "")).not.toMatch(/\p{Cc}/u);
        expect(shown).not.toMatch(/[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e01ef}]/u);
        expect(shown).not.toMatch(/\p{Cs}/u);
      }),
      { numRuns: 500 },
    );
  });

  it("makes every single character visible that is none", () => {
    const invisible = [/\p{Cc}/u, /\p{Cf}/u, /\p{Cs}/u, /\p{Co}/u, /\p{Cn}/u, /\p{Zl}/u, /\p{Zp}/u, /\p{Default_Ignorable_Code_Point}/u];
    const passed: string[] = [];
    for (let code = 0; code <= 0x10_ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (invisible.some((category) => category.test(character)) && printable(character) === character) passed.push(code.toString(16));
    }
    expect(passed).toEqual(["9", "a"]);
  });

  it("leaves what people write as it is", () => {
    for (const text of ["plain\n\ttext", "naïve façade", "日本語", "👩‍👩‍👧 ❤️ 1️⃣", "می‌خواهم", "क्‍ष", "שלום עולם"])
      expect(printable(text)).toBe(text);
  });

  it("shows what was hidden", () => {
    expect(printable("\u001b[31mred\u0007\u007f")).toBe("␛[31mred␇␡");
    expect(printable("a\u202eb\u200bc\u{e0041}")).toBe("a<U+202E>b<U+200B>c<U+E0041>");
    expect(printable("over\rwritten\r\nnext")).toBe("over␍written\nnext");
    expect(printable("a\u200db")).toBe("a<U+200D>b");
  });
});

describe("printableLine", () => {
  it("is one line of at most so many characters", () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 50 }), (text, maximum) => {
        const line = printableLine(text, maximum);
        expect(line).not.toContain("\n");
        expect(Array.from(line).length).toBeLessThanOrEqual(maximum);
      }),
    );
    expect(printableLine("  one\n  two  ")).toBe("one ⏎ two");
    expect(printableLine("abcdef", 4)).toBe("abc…");
    expect(printableLine(`touch pwned;${" ".repeat(3_000)}echo fine`, 60)).toBe("touch pwned;␠ × 3000echo fine");
    expect(printableLine("a       b")).toBe("a       b");
  });
});

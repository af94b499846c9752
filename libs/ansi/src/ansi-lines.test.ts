import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ansiLines, PLAIN } from "./ansi-lines.ts";

const shown = (text: string): string =>
  ansiLines(text)
    .map((spans) => spans.map((span) => span.text).join(""))
    .join("\n");

/** Any text, and often such as a terminal, or an attacker, would get. */
const output = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.constantFrom(
        "\n",
        "\r",
        "\b",
        "\t",
        "\r\n",
        "\u001b",
        "\u001b[",
        "\u001b[m",
        "\u001b[1;31m",
        "\u001b[38;5;",
        "\u001b[K",
        "\u001b[1K",
      ),
      fc.constantFrom(
        "\u001b[2J",
        "\u001b[H",
        "\u001b[9999D",
        "\u001b]0;title\u0007",
        "\u001b]8;;http://x\u001b\\",
        "\u001b[38;2;1;2;3m",
        "\u202e",
        "🙂",
      ),
      fc.tuple(fc.nat(300), fc.constantFrom("m", "K", "A", "J")).map(([number, final]) => `\u001b[${number}${final}`),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(""));

describe("the coloured output of a command", () => {
  it("keeps colours and weights until they are taken back", () => {
    const red = { ...PLAIN, foreground: 1 };
    expect(ansiLines("\u001b[31mFAIL\u001b[0m  a\n\u001b[1;92mok\u001b[22m!")).toEqual([
      [
        { text: "FAIL", style: red },
        { text: "  a", style: PLAIN },
      ],
      [
        { text: "ok", style: { ...PLAIN, foreground: 10, isBold: true } },
        { text: "!", style: { ...PLAIN, foreground: 10 } },
      ],
    ]);
    expect(ansiLines("\u001b[38;5;196mx\u001b[48;2;250;250;250my")[0]!.map(({ style }) => [style.foreground, style.background])).toEqual([
      [9, undefined],
      [9, 15],
    ]);
  });

  it.each([
    ["a line that is written again", "10 %\r50 %\r100 %", "100 %"],
    ["a shorter one, erased first", "downloading\r\u001b[Kdone", "done"],
    ["a shorter one, not erased", "12345\rab", "ab345"],
    ["backspaces", "abc\b\bX", "aXc"],
    ["ends of lines of Windows", "a\r\nb", "a\nb"],
    ["what would clear the screen", "first\n\u001b[2J\u001b[Hsecond", "first\nsecond"],
    ["what would go up and write over lines", "keep\n\u001b[1Aover", "keep\nover"],
    ["a title and a link", "\u001b]0;title\u0007see \u001b]8;;http://x\u001b\\here\u001b]8;;\u001b\\", "see here"],
    ["an escape that has no end", "a\u001b[31", "a␛[31"],
    ["other control characters", "a\u0000b\u0007", "a\u0000b\u0007"],
  ])("shows %s as it was read", (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it("loses no line and no plain text, and leaves no escape, whatever comes", () => {
    fc.assert(
      fc.property(output, (text) => {
        const lines = ansiLines(text);
        // What stands in a string that is a command is no text, line ends included.
        const hasStrings = ["]", "P", "X", "^", "_"].some((kind) => text.includes(`\u001b${kind}`));
        expect(hasStrings || lines.length === text.split("\n").length).toBe(true);
        for (const spans of lines)
          for (const [at, { text: piece, style }] of spans.entries()) {
            expect(["", ...piece].filter((character) => "\n\r\b".includes(character))).toEqual([""]);
            expect(piece).not.toContain("\u001b");
            expect(at > 0 && JSON.stringify(spans[at - 1]!.style) === JSON.stringify(style)).toBe(false);
          }
      }),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!["\r", "\b", "\u001b"].some((character) => text.includes(character)));
        expect(shown(text)).toBe(text);
      }),
    );
  });

  it("takes a megabyte on one line, and as many escapes, within a second", () => {
    const began = performance.now();
    expect(shown("x".repeat(1_000_000))).toHaveLength(1_000_000);
    expect(shown("\u001b[31m\u001b[0m".repeat(100_000))).toBe("");
    expect(shown("\u001b]".repeat(20_000)).length).toBeLessThanOrEqual(40_000);
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});

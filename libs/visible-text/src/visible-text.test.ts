import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visibleLine, visibleText, type VisiblePiece } from "./visible-text.ts";

/** Any text, and often such as an attacker would choose. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.constantFrom("\n", "\n\n\n", "\r", "\t", "\u001b[2J", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u{e0041}", "\ufe0f"),
      fc.constantFrom("\ud800", "\udc00", "\u00a0", "\u3000", "\u2800", "a\u0336", "क्षि", "⟦", "⟧", "␠ × 8", "U+202E", "3 empty lines"),
      fc
        .tuple(fc.constantFrom(" ", "\n", "\u0301", "\u200b", "\t"), fc.integer({ min: 1, max: 40 }))
        .map(([one, times]) => one.repeat(times)),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

const shown = (text: string): string =>
  visibleText(text)
    .map((line) => line.map((piece) => (piece.isEscaped ? `⟦${piece.text}⟧` : piece.text)).join(""))
    .join("\n");

/** Reads the rendering back, as somebody could who sees only it. */
function readBack(lines: readonly (readonly VisiblePiece[])[]): string {
  const read = lines.flatMap((pieces) => {
    const empty = /^(\d+) empty lines$/.exec(pieces[0]?.isEscaped === true ? pieces[0].text : "");
    return empty === null ? [pieces.map(original).join("")] : Array.from({ length: Number(empty[1]) }, () => "");
  });
  return read.join("\n");
}

function original({ text, isEscaped }: VisiblePiece): string {
  if (!isEscaped) return text;
  const [, name = "", count = "1"] = /^(.+?)(?: × (\d+))?$/u.exec(text)!;
  const code = name.startsWith("U+") ? Number.parseInt(name.slice(2), 16) : name === "␡" ? 0x7f : name.codePointAt(0)! - 0x2400;
  return String.fromCodePoint(code).repeat(Number(count));
}

describe("visibleText", () => {
  it("can be read back, so that no two texts look the same", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(readBack(visibleText(text))).toBe(text);
      }),
      { numRuns: 3_000 },
    );
  });

  it("can be read back where there is no colour either: a stand-in is in brackets that no text can draw", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const pieces = shown(text)
          .split("\n")
          .map((line) =>
            line
              .split(/(⟦[^⟧]*⟧)/)
              .filter((part) => part !== "")
              .map((part) => ({ start: 0, end: 0, text: part.replaceAll(/[⟦⟧]/g, ""), isEscaped: part.startsWith("⟦") })),
          );
        expect(readBack(pieces)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it("shows no character that a person cannot see", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const all = visibleText(text)
          .flat()
          .map((piece) => piece.text);
        for (const one of all) {
          expect(one).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
          expect(one).not.toMatch(/(?! )\p{Zs}|[^ ] {8}|\u2800/u);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("covers the text with its pieces, and each stands where it says", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        let at = 0;
        for (const piece of visibleText(text).flat()) {
          expect(text.slice(at, piece.start)).toMatch(/^\n*$/);
          expect(piece.isEscaped || text.slice(piece.start, piece.end) === piece.text).toBe(true);
          at = piece.end;
        }
        expect(text.slice(at)).toMatch(/^\n*$/);
      }),
    );
  });

  it("counts runs of empty lines and of blanks", () => {
    expect(shown(`touch pwned;${"\n".repeat(61)}echo`)).toBe("touch pwned;\n⟦60 empty lines⟧\necho");
    expect(shown(`touch pwned;${" ".repeat(3_000)}echo`)).toBe("touch pwned;⟦␠ × 3000⟧echo");
    expect(shown("a\n\n\nb")).toBe("a\n\n\nb");
    expect(shown("a\n\n\n")).toBe("a\n⟦3 empty lines⟧");
    expect(shown("")).toBe("");
  });

  it("shows tabs, blanks at the end of a line, and blanks that are none", () => {
    expect(shown("a\tb \nc  ")).toBe("a⟦␉⟧b⟦␠⟧\nc⟦␠ × 2⟧");
    expect(shown("rm\u00a0-rf\u3000x")).toBe("rm⟦U+00A0⟧-rf⟦U+3000⟧x");
    expect(shown("a\r\nb")).toBe("a⟦␍⟧\nb");
  });

  it("keeps code as it is indented, and words of any script as they are written", () => {
    for (const text of [`${" ".repeat(32)}return;`, "naïve façade", "日本語", "क्षि", "שלום עולם", "a  b   c"])
      expect(shown(text)).toBe(text);
    expect(shown(`${" ".repeat(33)}return;`)).toBe("⟦␠ × 33⟧return;");
  });

  it("shows piles of accents, and accents that would cross a letter out or make it look like another", () => {
    expect(shown("r\u0336m\u0336")).toBe("r⟦U+0336⟧m⟦U+0336⟧");
    expect(shown(`a${"\u0301".repeat(50)}`)).toBe("a⟦U+0301 × 50⟧");
    expect(shown("cafe\u0301")).not.toBe(shown("café"));
    expect(shown(`क${"\u093c".repeat(5)}`)).toBe(`क${"\u093c".repeat(3)}⟦U+093C × 2⟧`);
  });

  it("leaves its own brackets to stand-ins", () => {
    expect(shown("⟦␠ × 3⟧")).toBe("⟦U+27E6⟧␠ × 3⟦U+27E7⟧");
  });

  it("shows a line end in what is one line", () => {
    expect(visibleLine("a\nb").map(({ text }) => text)).toEqual(["a", "␊", "b"]);
  });
});

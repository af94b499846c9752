import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { RenderedLine, RenderedSpan } from "./approval-rendering.ts";
import { limitRendering } from "./limit-rendering.ts";
import { renderArguments } from "./render-arguments.ts";

type Values = { readonly [name: string]: JsonValue };

/** Values, and often such as could be taken for another's rendering. */
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 10 }),
  fc
    .array(
      fc.constantFrom(
        "\n",
        "\n\n\n",
        " ",
        " ".repeat(9),
        "\t",
        "\u202e",
        "\u200b",
        "path: a",
        "content:",
        "5",
        "60 empty lines",
        "␠ × 9",
        "a",
      ),
    )
    .map((pieces) => pieces.join("")),
  fc.jsonValue({ maxDepth: 2 }).map((json) => json as JsonValue),
);
const name = fc.oneof(
  fc.constantFrom("path", "command", "content", "a", "a =", "a:", "a\n  b", '"a"', "a         b", "\u202e"),
  fc.string(),
);
const argumentsOfACall = fc.dictionary(name, value, { maxKeys: 4 }).map((values): Values => values);

/** As a client without colour would print it, one argument below the other. */
const shown = (values: Values): string =>
  renderArguments(values, new Map())
    .map((line) => `${line[0]?.kind === "label" ? "" : "| "}${line.map(inBrackets).join("")}`)
    .join("\n");

function inBrackets({ text, kind }: RenderedSpan): string {
  return kind === "escaped" ? `⟦${text}⟧` : text;
}

function readBack(lines: readonly RenderedLine[]): Values {
  const texts: { label: string; lines: RenderedSpan[][] }[] = [];
  for (const line of lines) {
    if (line[0]?.kind === "label") texts.push({ label: line[0].text, lines: [line.slice(1)] });
    else texts.at(-1)!.lines.push([...line]);
  }
  const entries = texts.map(({ label, lines: own }) => {
    const text = own.flatMap(originalLine).join("\n");
    const [, given = "", kind] = /^(.*?)(:| =)$/s.exec(label)!;
    const read = given.startsWith('"') ? (JSON.parse(given) as string) : given;
    return [read, kind === ":" ? text : (JSON.parse(text) as JsonValue)] as const;
  });
  return Object.fromEntries(entries);
}

function originalLine(line: readonly RenderedSpan[]): string[] {
  const empty = /^(\d+) empty lines$/.exec(line[0]?.kind === "escaped" ? line[0].text : "");
  if (empty !== null) return Array.from({ length: Number(empty[1]) }, () => "");
  return [line.map((span) => (span.kind === "escaped" ? original(span.text) : span.text)).join("")];
}

function original(standIn: string): string {
  const [, sign = "", count = "1"] = /^(.+?)(?: × (\d+))?$/u.exec(standIn)!;
  const code = sign.startsWith("U+") ? Number.parseInt(sign.slice(2), 16) : sign === "␡" ? 0x7f : sign.codePointAt(0)! - 0x2400;
  return String.fromCodePoint(code).repeat(Number(count));
}

describe("renderArguments", () => {
  it("can be read back, so that arguments that differ never look the same", () => {
    fc.assert(
      fc.property(argumentsOfACall, (values) => {
        expect(readBack(renderArguments(values, new Map()))).toEqual(JSON.parse(JSON.stringify(values)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("renders two calls alike on a terminal without colour only where they are alike", () => {
    fc.assert(
      fc.property(argumentsOfACall, argumentsOfACall, (one, other) => {
        expect(shown(one) === shown(other)).toBe(JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("shows a number as another thing than the text of it, and a name as nothing but a name", () => {
    expect(shown({ a: 5 })).toBe("a =5");
    expect(shown({ a: "5" })).toBe("a:5");
    expect(shown({ "a: 5\nb": "6" })).toBe('"a: 5\\nb":6');
    expect(shown({ ["a b".replace(" ", " ".repeat(9))]: "6" })).toBe(`"a${"\\u0020".repeat(9)}b":6`);
  });

  it("puts what is short and says where before what may be long", () => {
    const values = { content: "x", command: "y", path: "p", timeout_seconds: 5, new_text: "n", old_text: "o", other: "z" };
    const labels = renderArguments(values, new Map()).map((line) => line[0]!.text);
    expect(labels).toEqual(["path:", "timeout_seconds =", "other:", "command:", "old_text:", "new_text:", "content:"]);
  });

  it("marks a part over several lines, and leaves stand-ins in it what they are", () => {
    const command = "ls; rm\t-r\nx; ls";
    const marked = new Map([["command", [{ start: 4, end: 11 }]]]);
    expect(renderArguments({ command }, marked)).toEqual([
      [
        { text: "command:", kind: "label" },
        { text: "ls; ", kind: "plain" },
        { text: "rm", kind: "marked" },
        { text: "␉", kind: "escaped" },
        { text: "-r", kind: "marked" },
      ],
      [
        { text: "x", kind: "marked" },
        { text: "; ls", kind: "plain" },
      ],
    ]);
  });

  it("loses nothing by marking", () => {
    const range = fc.tuple(fc.nat(12), fc.nat(12)).map(([one, other]) => ({ start: Math.min(one, other), end: Math.max(one, other) }));
    fc.assert(
      fc.property(value, range, (command, marked) => {
        const values = { command };
        expect(readBack(renderArguments(values, new Map([["command", [marked]]])))).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });
});

describe("limitRendering", () => {
  it("leaves out the end of what is too long, and says how much", () => {
    const lines = renderArguments({ content: "0123456789\n".repeat(100) }, new Map());
    expect(limitRendering(lines, 1_000_000)).toEqual({ lines, omittedCharacters: 0 });
    const limited = limitRendering(lines, 1_000);
    expect(limited.lines).toEqual(lines.slice(0, limited.lines.length));
    expect(limited.omittedCharacters).toBeGreaterThan((100 - limited.lines.length) * 10);
  });
});

function sorted(values: Values): [string, JsonValue][] {
  return Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

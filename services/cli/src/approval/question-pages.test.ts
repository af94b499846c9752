import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../terminal/wrap-pieces.ts";
import { approvalOf } from "../testing/test-approval.ts";
import { questionLines } from "./question-lines.ts";
import { questionPages, type Page } from "./question-pages.ts";

const HEADING = "shell_exec (L2) has to be approved: mode default asks for L2";
const SIZE = { rows: 24, columns: 80, colour: false };

const textOf = (page: Page): string[] => page.map((row) => row.map(({ text }) => text).join(""));

function pagesOf(command: string, { marked = "", size = SIZE } = {}): string[][] {
  const lines = questionLines(approvalOf("shell_exec", { command }, marked));
  return questionPages(HEADING, lines, size).map(textOf);
}

describe("questionPages", () => {
  it.each([
    ["sixty line ends", "\n".repeat(60)],
    ["three thousand blanks", " ".repeat(3_000)],
    ["three thousand no-break spaces", "\u00a0".repeat(3_000)],
    ["sixty lines that hold a blank each", " \n".repeat(60)],
    ["sixty lines of comments", "# this is quite harmless\n".repeat(60)],
  ])("keeps a command on the first page that %s would move off the screen", (_, filler) => {
    const pages = pagesOf(`touch pwned;${filler}echo all is well`, { marked: "touch pwned" });
    expect(pages[0]!.join("\n")).toContain(" > command: >>>touch pwned<<<;");
    expect(pages.at(-1)!.join("\n")).toContain("echo all is well");
  });

  it("holds the beginning, the reason and the marked part on the first page, however far down that is", () => {
    const pages = pagesOf(`echo begin\n${"echo fine\n".repeat(500)}touch pwned\n${"echo fine\n".repeat(500)}`, { marked: "touch pwned" });
    const [first] = pages;
    expect(first![0]).toBe(`1 of ${pages.length} pages · ${HEADING}`);
    expect(first![1]).toBe("   command: echo begin");
    expect(first!.slice(-2)).toEqual(["-  What made policy ask, from further on:", "|> >>>touch pwned<<<"]);
    expect(pages[1]![0]).toBe(`2 of ${pages.length} pages · shell_exec (L2) has to be approved`);
  });

  it("fills at most half of the first page with marked parts from further on", () => {
    const pages = pagesOf(`echo begin\n${"echo fine\ntouch pwned\n".repeat(500)}`, { marked: "touch pwned" });
    expect(pages[0]!.length).toBeLessThanOrEqual(21);
    expect(pages[0]!.indexOf("-  What made policy ask, from further on:")).toBeGreaterThan(8);
  });

  it("is one page where all of it fits", () => {
    expect(pagesOf("npm test", { marked: "npm test" })).toEqual([[HEADING, " > command: >>>npm test<<<"]]);
    expect(pagesOf(Array.from({ length: 20 }, () => "ls").join("\n"))).toHaveLength(1);
    expect(pagesOf(Array.from({ length: 21 }, () => "ls").join("\n"))).toHaveLength(2);
  });

  it("leaves nothing out and fits the screen, whatever its size", () => {
    const command = fc.array(fc.constantFrom("a", "日本", "\n", " ", "\t", "x".repeat(100), "\u202e".repeat(30), "é", "rm"), {
      maxLength: 60,
    });
    const sizes = fc.record({ rows: fc.integer({ min: 12, max: 50 }), columns: fc.integer({ min: 30, max: 120 }), colour: fc.boolean() });
    fc.assert(
      fc.property(command, sizes, (pieces, size) => {
        const lines = questionLines(approvalOf("shell_exec", { command: pieces.join("") }));
        const pages = questionPages(HEADING, lines, size).map(textOf);
        for (const row of pages.flat()) expect(displayWidth(row)).toBeLessThanOrEqual(size.columns);
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(size.rows - 3);
        const bodies = pages.flatMap((page) => page.slice(page.findIndex((row) => /^[ |+-][ >] /.test(row))));
        const brackets = (text: string): string => (size.colour ? text.replaceAll(/[⟦⟧]/g, "") : text);
        const all = lines.map((line) => line.pieces.map(({ text, tone }) => (tone === "escaped" ? `⟦${text}⟧` : text)).join("")).join("");
        expect(bodies.map((row) => row.slice(3)).join("")).toBe(brackets(all));
      }),
      { numRuns: 500 },
    );
  });

  it("lets no text draw the beginning of a row", () => {
    const [page] = pagesOf("a\n   command: b\n> >>>c<<<\n-  d", { marked: "zzz" });
    expect(page!.slice(1)).toEqual(["   command: a", "|     command: b", "|  > >>>c<<<", "|  -  d"]);
  });
});

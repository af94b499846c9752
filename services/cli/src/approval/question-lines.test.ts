import fc from "fast-check";
import { applyPatch } from "diff";
import { describe, expect, it } from "vitest";
import { approvalOf } from "../testing/test-approval.ts";
import type { PresentFile } from "./present-file.ts";
import { questionLines } from "./question-lines.ts";

const SIGNS = { first: "", further: "| ", note: "# " } as const;

function shown(tool: string, given: Readonly<Record<string, string>>, present?: PresentFile): string[] {
  const lines = questionLines(approvalOf(tool, given), () => present);
  return lines.map(({ place, pieces }) => SIGNS[place] + pieces.map(({ text }) => text).join(""));
}

describe("questionLines", () => {
  it("shows a command whole, line by line, and whatever goes with it", () => {
    expect(shown("shell_exec", { working_directory: "a", command: "cd a\nrm -rf b" })).toEqual([
      "working_directory: a",
      "command: cd a",
      "| rm -rf b",
    ]);
  });

  it("shows what will be written", () => {
    expect(shown("write_file", { path: "a.txt", content: "one\ntwo" })).toEqual(["path: a.txt", "content: one", "| two"]);
  });

  it("shows what a text that is written over loses and gains", () => {
    const present = { bytes: 31, text: "one\ntwo\nthree\nfour\nfive\nsix\nseven" };
    expect(shown("write_file", { path: "a.txt", content: "one\n2\nthree\nfour\nfive\nsix\nseven" }, present)).toEqual([
      "path: a.txt",
      "# 31 characters are written in place of the 31 bytes that are there now; what changes:",
      "| @@ -1,5 +1,5 @@",
      "|  one",
      "| -two",
      "| +2",
      "|  three",
      "|  four",
      "|  five",
    ]);
  });

  it("shows of a changed text enough to make the new one of the old one", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "", " d", "-e", "+f"), { maxLength: 20 }).map((some) => some.join("\n"));
    fc.assert(
      fc.property(text, text, (before, content) => {
        const [heading, ...diff] = shown("write_file", { path: "a", content }, { bytes: before.length, text: before }).slice(1);
        const patch = `--- a\n+++ a\n${diff.map((line) => line.slice(2)).join("\n")}\n`;
        expect(heading!.endsWith("nothing changes.")).toBe(before === content);
        expect(before === content ? content : applyPatch(before, patch)).toEqual(content);
      }),
    );
  });

  it("shows in what changes too whatever would hide", () => {
    const content = `a\u202e\n${" ".repeat(3_000)}b\n`;
    const lines = shown("write_file", { path: "a", content }, { bytes: 2, text: "a\n" });
    expect(lines.slice(-3)).toEqual(["| -a", "| +aU+202E", "| +␠ × 3000b"]);
  });

  it.each([
    ["is no text", { bytes: 9 }],
    ["has nothing in common with it", { bytes: 9, text: "x\n".repeat(3_000) }],
  ])("shows every line of a new text whose predecessor %s", (_, present) => {
    const text = shown("write_file", { path: "a.bin", content: "y\n".repeat(99) }, present);
    expect(text[1]).toBe("# 198 characters are written in place of the 9 bytes that are there now.");
    expect(text.slice(2)).toEqual(["content: y", ...Array.from({ length: 98 }, () => "| y"), "| "]);
  });

  it("never leaves out a line, however long the text", () => {
    const content = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join("\n");
    expect(shown("write_file", { path: "a", content })).toHaveLength(1001);
    expect(shown("shell_exec", { command: content })).toHaveLength(1000);
  });

  it("says how much policy left out", () => {
    const approval = approvalOf("shell_exec", { command: "a" });
    const lines = questionLines({ ...approval, rendering: { ...approval.rendering!, omittedCharacters: 7 } }, () => undefined);
    expect(lines.at(-1)).toMatchObject({ place: "note", pieces: [{ text: expect.stringContaining("7 more characters") }] });
  });

  it("shows the arguments as they are where policy sends no rendering", () => {
    const approval = { ...approvalOf("x", { a: "\u202e" }), rendering: undefined };
    expect(questionLines(approval, () => undefined)).toMatchObject([
      { place: "first", pieces: [{ text: '{"a":"' }, { text: "U+202E", tone: "escaped" }, { text: '"}' }] },
    ]);
  });
});

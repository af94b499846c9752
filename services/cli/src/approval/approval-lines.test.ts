import fc from "fast-check";
import { applyPatch } from "diff";
import { describe, expect, it } from "vitest";
import { approvalLines } from "./approval-lines.ts";
import type { PresentFile } from "./present-file.ts";

function shown(tool: string, given: object, present?: PresentFile): string[] {
  const look = () => present;
  const question = { tool, argumentsJson: JSON.stringify(given), safetyLevel: "L1", reason: "mode default asks for L1", look };
  return approvalLines(question).map((line) => line.text);
}

describe("approvalLines", () => {
  it("shows a command whole, line by line, and whatever goes with it", () => {
    expect(shown("shell_exec", { command: "cd a\nrm -rf b", timeout_seconds: 5 })).toEqual([
      "shell_exec (L1) has to be approved: mode default asks for L1",
      "  $ cd a",
      "    rm -rf b",
      "  timeout_seconds: 5",
    ]);
  });

  it("shows what will be written", () => {
    expect(shown("write_file", { path: "a.txt", content: "one\ntwo" }).slice(1)).toEqual([
      "  write a.txt (7 characters)",
      "  + one",
      "  + two",
    ]);
  });

  it("shows what a text that is written over loses and gains", () => {
    const present = { bytes: 31, text: "one\ntwo\nthree\nfour\nfive\nsix\nseven" };
    expect(shown("write_file", { path: "a.txt", content: "one\n2\nthree\nfour\nfive\nsix\nseven" }, present).slice(1)).toEqual([
      "  write a.txt (31 characters), in place of the 31 bytes that are there now",
      "  @@ -1,5 +1,5 @@",
      "   one",
      "  -two",
      "  +2",
      "   three",
      "   four",
      "   five",
    ]);
  });

  it("shows of a changed text enough to make the new one of the old one", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "", " d", "-e", "+f"), { maxLength: 20 }).map((some) => some.join("\n"));
    fc.assert(
      fc.property(text, text, (before, content) => {
        const diff = shown("write_file", { path: "a", content }, { bytes: before.length, text: before }).slice(2);
        const patch = `--- a\n+++ a\n${diff.map((line) => line.slice(2)).join("\n")}\n`;
        expect(before === content ? diff : applyPatch(before, patch)).toEqual(before === content ? ["  nothing changes"] : content);
      }),
    );
  });

  it.each([
    ["is no text", { bytes: 9 }],
    ["has nothing in common with it", { bytes: 9, text: "x\n".repeat(3_000) }],
  ])("shows every line of a new text whose predecessor %s", (_, present) => {
    const content = "y\n".repeat(99);
    const text = shown("write_file", { path: "a.bin", content }, present);
    expect(text[1]).toBe("  write a.bin (198 characters), in place of the 9 bytes that are there now");
    expect(text.slice(2)).toEqual([...Array.from({ length: 99 }, () => "  + y"), "  + "]);
  });

  it("shows what goes and what comes", () => {
    expect(shown("edit_file", { path: "a.txt", old_text: "one", new_text: "two\nthree", replace_all: true }).slice(1)).toEqual([
      "  edit a.txt, every occurrence",
      "  - one",
      "  + two",
      "  + three",
    ]);
  });

  it("says how much of a long file it leaves out, and shows its end", () => {
    const content = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join("\n");
    const lines = shown("write_file", { path: "a", content });
    expect(lines).toHaveLength(203);
    expect(lines[162]).toContain("800 lines are not shown");
    expect(lines.at(-1)).toBe("  + line 999");
  });

  it("never cuts a command", () => {
    const command = Array.from({ length: 1000 }, (_, index) => `echo ${index}`).join("\n");
    expect(shown("shell_exec", { command })).toHaveLength(1001);
  });

  it("leaves no argument unseen, whatever the tool and its arguments", () => {
    const value = fc.oneof(fc.stringMatching(/^[a-z ]{1,20}$/), fc.integer(), fc.boolean());
    const given = fc.dictionary(fc.constantFrom("path", "content", "command", "old_text", "new_text", "other"), value);
    fc.assert(
      fc.property(fc.constantFrom("shell_exec", "write_file", "edit_file", "memory_write"), given, (tool, object) => {
        const text = shown(tool, object).join("\n");
        for (const one of Object.values(object)) expect(text).toContain(String(one));
      }),
    );
  });

  it.each([
    [
      "write_file",
      { path: "a.txt (2 characters)\n  + hi\n  write b", content: "rm -rf ~" },
      ['  write "a.txt (2 characters)\\n  + hi\\n  write b" (8 characters)', "  + rm -rf ~"],
    ],
    ["edit_file", { path: "a\r\n  - one", old_text: "x", new_text: "y" }, ['  edit "a\\r\\n  - one"', "  - x", "  + y"]],
    ["edit_file", { path: '"a"', old_text: "x", new_text: "y" }, ['  edit "\\"a\\""', "  - x", "  + y"]],
    ["read_file", { "path: a\n  other": 1 }, ['  "path: a\\n  other": 1']],
  ])("lets no path or name draw lines of its own: %s %j", (tool, given, lines) => {
    expect(shown(tool, given).slice(1)).toEqual(lines);
  });

  it("lets neither the tool nor the reason draw lines of its own", () => {
    const question = { tool: "ls\n  $ a", argumentsJson: "{}", safetyLevel: "L1", reason: "because\n  $ b", look: () => undefined };
    expect(approvalLines(question).map(({ text }) => text)).toEqual(["ls ⏎ $ a (L1) has to be approved: because ⏎ $ b"]);
  });

  it("shows arguments that are no object as they are", () => {
    expect(approvalLines({ tool: "x", argumentsJson: "[1", safetyLevel: "L2", reason: "r", look: () => undefined })[1]!.text).toBe("  [1");
  });
});

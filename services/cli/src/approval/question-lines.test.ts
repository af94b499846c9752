import { create } from "@bufbuild/protobuf";
import { ApprovalPreviewSchema, RenderedSpan_Kind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { describe, expect, it } from "vitest";
import { approvalOf } from "../testing/test-approval.ts";
import { questionLines } from "./question-lines.ts";

const SIGNS = { first: "", further: "| ", note: "# " } as const;
const plain = (text: string) => ({ text, kind: RenderedSpan_Kind.PLAIN });

function shown(tool: string, given: Readonly<Record<string, string>>, changes?: readonly string[], omittedCharacters = 0): string[] {
  const lines = (changes ?? []).map((line) => ({ spans: [plain(line[0]!), plain(line.slice(1))] }));
  const preview = changes && create(ApprovalPreviewSchema, { present: true, presentBytes: 31n, lines, omittedCharacters });
  return questionLines({ ...approvalOf(tool, given), preview }).map(
    ({ place, pieces }) => SIGNS[place] + pieces.map(({ text }) => text).join(""),
  );
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

  it("shows what a text that is written over loses and gains in place of the new text, and of an edit behind it", () => {
    const changes = ["@@ -1,2 +1,2 @@", " one", "-two", "+2"];
    expect(shown("write_file", { path: "a.txt", content: "one\n2" }, changes)).toEqual([
      "path: a.txt",
      "# It is written in place of the 31 bytes that are there now; what changes:",
      ...changes.map((line) => `| ${line}`),
    ]);
    const edit = shown("edit_file", { path: "a.txt", old_text: "two", new_text: "2" }, changes);
    expect(edit).toEqual(["path: a.txt", "old_text: two", "new_text: 2", "# What changes:", ...changes.map((line) => `| ${line}`)]);
  });

  it.each([
    ["cannot be told", [], 0],
    ["is cut", ["+y"], 7],
  ])("shows every line of a new text where what changes %s", (_, changes, omitted) => {
    const text = shown("write_file", { path: "a.bin", content: "y\n".repeat(99) }, changes, omitted);
    expect(text[1]).toBe("# It is written in place of the 31 bytes that are there now.");
    expect(text.slice(2)).toEqual(["content: y", ...Array.from({ length: 98 }, () => "| y"), "| "]);
  });

  it("never leaves out a line, however long the text", () => {
    const content = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join("\n");
    expect(shown("write_file", { path: "a", content })).toHaveLength(1001);
    expect(shown("shell_exec", { command: content })).toHaveLength(1000);
  });

  it("says how much policy left out", () => {
    const approval = approvalOf("shell_exec", { command: "a" });
    const lines = questionLines({ ...approval, rendering: { ...approval.rendering!, omittedCharacters: 7 } });
    expect(lines.at(-1)).toMatchObject({ place: "note", pieces: [{ text: expect.stringContaining("7 more characters") }] });
  });

  it("shows the arguments as they are where policy sends no rendering", () => {
    const approval = { ...approvalOf("x", { a: "\u202e" }), rendering: undefined };
    expect(questionLines(approval)).toMatchObject([
      { place: "first", pieces: [{ text: '{"a":"' }, { text: "U+202E", tone: "escaped" }, { text: '"}' }] },
    ]);
  });
});

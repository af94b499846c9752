import { describe, expect, it } from "vitest";
import type { KeyName } from "./key-decoder.ts";
import { LineEditor } from "./line-editor.ts";

function edited(text: string, ...names: readonly KeyName[]): string {
  const editor = new LineEditor();
  editor.set(text);
  for (const name of names) editor.press({ name, text: "" });
  return `${editor.before}|${editor.after}`;
}

describe("LineEditor", () => {
  it.each([
    ["one two", ["left", "left"], "one t|wo"],
    ["one two", ["word-left"], "one |two"],
    ["one two", ["home", "word-right"], "one| two"],
    ["one two", ["home", "delete", "right", "backspace"], "|e two"],
    ["one two", ["erase-word"], "one |"],
    ["one two", ["word-left", "erase-before"], "|two"],
    ["one two", ["word-left", "erase-after", "end"], "one |"],
    ["", ["backspace", "delete", "left", "right", "erase-word"], "|"],
  ] as const)("edits %j by %j", (text, names, left) => {
    expect(edited(text, ...names)).toBe(left);
  });

  it.each(["👩‍👩‍👧", "e\u0301", "🇩🇪", "日"])("takes %s for one character", (character) => {
    expect(edited(`a${character}`, "left")).toBe(`a|${character}`);
    expect(edited(`a${character}`, "backspace")).toBe("a|");
    expect(edited(`${character}b`, "home", "right")).toBe(`${character}|b`);
  });

  it("inserts where the cursor is, lines too, and refuses what no message can hold", () => {
    const editor = new LineEditor();
    editor.set("ad");
    editor.press({ name: "left", text: "" });
    expect(editor.press({ name: "paste", text: "b\nc" })).toBe(true);
    expect(editor.text).toBe("ab\ncd");
    expect(editor.press({ name: "newline", text: "" })).toBe(true);
    expect(editor.before).toBe("ab\nc\n");
    expect(editor.press({ name: "paste", text: "x".repeat(400_000) })).toBe(false);
    expect(editor.text).toBe("ab\nc\nd");
    expect(editor.press({ name: "up", text: "" })).toBe(false);
  });

  it("edits the end of a very long text at once", () => {
    const editor = new LineEditor();
    editor.set(`${"word ".repeat(50_000)}end`);
    editor.press({ name: "erase-word", text: "" });
    expect(editor.text).toHaveLength(250_000);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventPayload } from "./event-payload.ts";
import { eventWords, searchWords } from "./search-words.ts";

describe("searchWords", () => {
  it.each([
    ["Fix session-list.ts, fix it!", ["fix", "session", "list", "ts", "it"]],
    ["ÜBER straße Ⅷ ﬁle", ["über", "straße", "viii", "file"]],
    ["木に鳥 abc", ["木", "に", "鳥", "abc"]],
    ["हिन्दी", ["हिन्दी"]],
    ["'); drop -- \u0000\ud800 | & !", ["drop"]],
    ["", []],
  ])("of %j are %j", (text, words) => {
    expect(searchWords(text)).toEqual(words);
  });

  it("are few and short, whatever a message says, and found again as they are", () => {
    expect(searchWords("x".repeat(1_000_000))).toEqual(["x".repeat(64)]);
    expect(searchWords(Array.from({ length: 1_000_000 }, (_, index) => index).join(" ")).length).toBeLessThan(64 * 1024);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const words = searchWords(text);
        expect(words.join(" ").split(" ").filter(Boolean)).toEqual(words);
        expect(words.every((word) => word.isWellFormed() && !/['\\:&|!()\s\0]/.test(word))).toBe(true);
      }),
    );
  });
});

describe("eventWords", () => {
  it("are those of what was said, and of nothing else", () => {
    expect(eventWords(eventPayload("assistantMessage", { text: "It is here" }))).toBe("it is here");
    expect(eventWords(eventPayload("assistantMessage", { text: "" }))).toBeNull();
    expect(eventWords(eventPayload("messageDelta", { text: "It is" }))).toBeNull();
    expect(eventWords(eventPayload("toolEnd", { tool: "read_file", result: { content: "a file" } }))).toBeNull();
  });
});

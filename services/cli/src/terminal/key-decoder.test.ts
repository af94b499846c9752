import { describe, expect, it } from "vitest";
import { KeyDecoder, type Key } from "./key-decoder.ts";

const namesOf = (keys: readonly Key[]): string[] => keys.map(({ name, text }) => (text === "" ? name : `${name} ${text}`));
const decode = (...chunks: readonly string[]): string[] => {
  const decoder = new KeyDecoder();
  return namesOf(chunks.flatMap((chunk) => decoder.push(Buffer.from(chunk))));
};

describe("KeyDecoder", () => {
  it("tells text from keys", () => {
    expect(decode("use ä\r")).toEqual(["text use ä", "enter"]);
    expect(decode("\u001b[D\u001b[1;5D\u001bb\u0017\u007f\u001b[3~\u0004")).toEqual([
      "left",
      "word-left",
      "word-left",
      "erase-word",
      "backspace",
      "delete",
      "ctrl-d",
    ]);
  });

  it("puts together what comes in pieces: characters, sequences, pasted text and its end", () => {
    const decoder = new KeyDecoder();
    const bytes = Buffer.from("日\u001b[A\u001b[200~one\r\ntwo\u001b[201~x");
    expect(namesOf([...bytes].flatMap((byte) => decoder.push(Buffer.from([byte]))))).toEqual(["text 日", "up", "paste one\ntwo", "text x"]);
  });

  it("takes an escape character alone for the key only when nothing comes behind it", () => {
    const decoder = new KeyDecoder();
    expect(decoder.push(Buffer.from("\u001b"))).toEqual([]);
    expect(decoder.isUndecided).toBe(true);
    expect(namesOf(decoder.settle())).toEqual(["escape"]);
    expect(decoder.isUndecided).toBe(false);
    expect(decoder.push(Buffer.from("\u001b"))).toEqual([]);
    expect(namesOf(decoder.push(Buffer.from("[C")))).toEqual(["right"]);
  });

  it("gives pasted text in one piece, with the control characters that it has, and makes no keys of them", () => {
    expect(decode("\u001b[200~y\r\u001b[2J\u0003\u001b[201~\r")).toEqual(["paste y\n\u001b[2J\u0003", "enter"]);
  });

  it("knows Ctrl-C behind an escape character, and in pasted text whose end never comes", () => {
    expect(decode("\u001b\u0003")).toEqual(["escape", "ctrl-c"]);
    expect(decode("\u001b[200~never ended", "\u0003", "x")).toEqual(["ctrl-c", "text x"]);
  });

  it("ignores sequences that it does not know, however long they are", () => {
    expect(decode("\u001b[99;99~a", "\u001b]0;title\u0007b").join()).toContain("text a");
    expect(decode(`\u001b[${"1;".repeat(1_000)}`, "b").length).toBeGreaterThan(0);
  });
});

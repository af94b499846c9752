import { describe, beforeEach, expect, it, vi } from "vitest";
import { TestKeyboard } from "../testing/test-keyboard.ts";
import type { Key } from "./key-decoder.ts";
import { TerminalInput } from "./terminal-input.ts";

const PASTE_MODE_ON = "\u001b[?2004h";
const PASTE_MODE_OFF = "\u001b[?2004l";
const never = new AbortController().signal;

describe("TerminalInput", () => {
  let keyboard: TestKeyboard;
  let input: TerminalInput;
  let written: string[];
  const onControlC = vi.fn<() => void>();

  beforeEach(() => {
    keyboard = new TestKeyboard();
    written = [];
    onControlC.mockClear();
    input = new TerminalInput(keyboard, { write: (text) => written.push(text), onControlC });
  });

  /** Takes the keys, and keeps what it got. */
  function reader(): { got: string[]; early: string[]; reading: Disposable } {
    const got: string[] = [];
    const early: string[] = [];
    const keep = (into: string[]) => (key: Key) => void into.push(key.text || key.name);
    return { got, early, reading: input.read({ key: keep(got), early: keep(early) }) };
  }

  it("gives keys to the last reader that came, and to the one before when that has left", () => {
    const prompt = reader();
    keyboard.type("a");
    const question = reader();
    keyboard.type("y");
    question.reading[Symbol.dispose]();
    keyboard.type("b");
    expect(prompt.got).toEqual(["a", "b"]);
    expect(question.got).toEqual(["y"]);
  });

  it("holds the terminal's modes while there is a reader, and gives them back with the last", () => {
    const listeners = process.listenerCount("exit");
    const one = reader();
    const other = reader();
    expect(keyboard).toMatchObject({ raw: true, flowing: true });
    other.reading[Symbol.dispose]();
    expect(keyboard.raw).toBe(true);
    expect(process.listenerCount("exit")).toBe(listeners + 1);
    one.reading[Symbol.dispose]();
    one.reading[Symbol.dispose]();
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
    expect(written).toEqual([PASTE_MODE_ON, PASTE_MODE_OFF]);
    expect(process.listenerCount("exit")).toBe(listeners);
  });

  it("leaves the terminal to another program for a while", () => {
    const { got } = reader();
    {
      using _ = input.suspend();
      expect(keyboard).toMatchObject({ raw: false, flowing: false });
      keyboard.type("for the editor");
    }
    expect(keyboard.raw).toBe(true);
    keyboard.type("x");
    expect(got.at(-1)).toBe("x");
  });

  it("is quiet only when nobody has typed for a quarter of a second, and what is typed meanwhile goes to whom it was meant for", async () => {
    const { got, early } = reader();
    const since = performance.now();
    const quiet = input.quiet(never);
    keyboard.type("y");
    await vi.waitFor(() => expect(performance.now() - since).toBeGreaterThan(150));
    keyboard.type("n");
    await quiet;
    expect(performance.now() - since).toBeGreaterThanOrEqual(390);
    expect(early).toEqual(["y", "n"]);
    expect(got).toEqual([]);
  });

  it("is quiet at once where the question is withdrawn", async () => {
    const withdrawn = new AbortController();
    const quiet = input.quiet(withdrawn.signal);
    withdrawn.abort();
    await quiet;
    expect(keyboard.raw).toBe(false);
  });

  it("takes no Enter and no Escape for a line that was only just uncovered", async () => {
    const { got } = reader();
    reader().reading[Symbol.dispose]();
    keyboard.type("a\r");
    await vi.waitFor(() => {
      keyboard.type("\r");
      expect(got).toContain("enter");
    });
    expect(got[0]).toBe("a");
    expect(got.filter((name) => name === "enter")).toHaveLength(1);
  });

  it("tells the Escape key from the beginning of another", async () => {
    const { got } = reader();
    keyboard.type("\u001b");
    keyboard.type("[A");
    expect(got).toEqual(["up"]);
    keyboard.type("\u001b");
    await vi.waitFor(() => expect(got).toEqual(["up", "escape"]));
  });

  it("hands Ctrl-C on, whoever reads", () => {
    const { got } = reader();
    keyboard.type("\u0003");
    expect(onControlC).toHaveBeenCalledOnce();
    expect(got).toEqual([]);
  });

  it("survives a terminal that breaks off", () => {
    reader();
    expect(() => keyboard.emit("error", Object.assign(new Error("read EIO"), { code: "EIO" }))).not.toThrow();
  });
});

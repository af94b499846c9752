import { EventEmitter, once } from "node:events";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { TestKeyboard } from "../testing/test-keyboard.ts";
import { readKey } from "./read-key.ts";
import { TerminalInput } from "./terminal-input.ts";

describe("readKey", () => {
  let keyboard: TestKeyboard;
  let input: TerminalInput;
  const onControlC = vi.fn<() => void>();
  let screen: EventEmitter;
  const never = new AbortController().signal;
  const ask = (): void => void screen.emit("asked");

  beforeEach(() => {
    keyboard = new TestKeyboard();
    onControlC.mockClear();
    input = new TerminalInput(keyboard, { write: () => {}, onControlC });
    screen = new EventEmitter();
  });

  it("takes the first of the keys, and gives the terminal back as it was", async () => {
    const key = readKey(input, ["y", "n"], never, ask);
    await once(screen, "asked");
    expect(keyboard).toMatchObject({ raw: true, flowing: true });
    keyboard.type("x");
    keyboard.type("Y\r");
    expect(await key).toBe("y");
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
    expect(keyboard.listenerCount("data")).toBe(0);
  });

  it.each([
    [" ", "space"],
    ["\r", "enter"],
    ["\u001b[B", "down"],
  ])("knows %j as the key %s", async (typed, name) => {
    const key = readKey(input, [name], never, ask);
    await once(screen, "asked");
    keyboard.type(typed);
    expect(await key).toBe(name);
  });

  it("does not take what was typed before the question was put", async () => {
    keyboard.type("y");
    const key = readKey(input, ["y", "n"], never, ask);
    await once(screen, "asked");
    keyboard.type("n");
    expect(await key).toBe("n");
  });

  it("takes no key out of a piece of pasted text", async () => {
    const withdrawn = new AbortController();
    const key = readKey(input, ["y"], withdrawn.signal, ask);
    await once(screen, "asked");
    keyboard.type("yes please");
    withdrawn.abort();
    expect(await key).toBeUndefined();
    expect(keyboard.raw).toBe(false);
  });

  it("does not put a question that was withdrawn before", async () => {
    const withdrawn = new AbortController();
    const asked = vi.fn<() => void>();
    const key = readKey(input, ["y"], withdrawn.signal, asked);
    withdrawn.abort();
    expect(await key).toBeUndefined();
    expect(asked).not.toHaveBeenCalled();
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
  });

  it("hands Ctrl-C on, at any time", async () => {
    const withdrawn = new AbortController();
    keyboard.type("\u0003");
    const key = readKey(input, ["y"], withdrawn.signal, ask);
    await once(screen, "asked");
    expect(onControlC).toHaveBeenCalledOnce();
    keyboard.type("\u0003");
    expect(onControlC).toHaveBeenCalledTimes(2);
    withdrawn.abort();
    expect(await key).toBeUndefined();
  });
});

import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readKey, type Keyboard } from "./read-key.ts";

class TestKeyboard extends EventEmitter implements Keyboard {
  raw = false;
  flowing = false;
  setRawMode(raw: boolean): void {
    this.raw = raw;
  }
  resume(): this {
    this.flowing = true;
    return this;
  }
  pause(): this {
    this.flowing = false;
    return this;
  }
  type(text: string): void {
    this.emit("data", Buffer.from(text));
  }
}

describe("readKey", () => {
  const keyboard = new TestKeyboard();
  const never = new AbortController().signal;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("takes the first of the keys, and gives the terminal back as it was", async () => {
    const key = readKey(keyboard, ["y", "n"], never, () => {});
    expect(keyboard).toMatchObject({ raw: true, flowing: true });
    vi.advanceTimersByTime(200);
    keyboard.type("x");
    keyboard.type("Y");
    expect(await key).toBe("y");
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
    expect(keyboard.listenerCount("data")).toBe(0);
  });

  it("does not take what was typed before the question could be read", async () => {
    const key = readKey(keyboard, ["y", "n"], never, () => {});
    keyboard.type("y");
    vi.advanceTimersByTime(200);
    keyboard.type("n");
    expect(await key).toBe("n");
  });

  it("takes no key out of a piece of pasted text", async () => {
    const withdrawn = new AbortController();
    const key = readKey(keyboard, ["y"], withdrawn.signal, () => {});
    vi.advanceTimersByTime(200);
    keyboard.type("yes please");
    withdrawn.abort();
    expect(await key).toBeUndefined();
    expect(keyboard.raw).toBe(false);
  });

  it("hands Ctrl-C on, at any time", async () => {
    const onControlC = vi.fn<() => void>();
    const withdrawn = new AbortController();
    const key = readKey(keyboard, ["y"], withdrawn.signal, onControlC);
    keyboard.type("\u0003");
    expect(onControlC).toHaveBeenCalledOnce();
    withdrawn.abort();
    expect(await key).toBeUndefined();
  });
});

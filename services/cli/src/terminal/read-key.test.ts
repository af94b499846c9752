import { EventEmitter, once } from "node:events";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { readKey, type Keyboard } from "./read-key.ts";

/** Like a terminal it keeps what is typed until somebody reads, and gives it with the next look of the loop. */
class TestKeyboard extends EventEmitter implements Keyboard {
  raw = false;
  flowing = false;
  readonly #waiting: string[] = [];
  setRawMode(raw: boolean): void {
    this.raw = raw;
  }
  resume(): this {
    this.flowing = true;
    setImmediate(() => this.#give());
    return this;
  }
  pause(): this {
    this.flowing = false;
    return this;
  }
  type(text: string): void {
    this.#waiting.push(text);
    if (this.flowing) this.#give();
  }
  #give(): void {
    for (const text of this.#waiting.splice(0)) this.emit("data", Buffer.from(text));
  }
}

describe("readKey", () => {
  let keyboard: TestKeyboard;
  let screen: EventEmitter;
  const never = new AbortController().signal;
  const ask = (): void => void screen.emit("asked");

  beforeEach(() => {
    keyboard = new TestKeyboard();
    screen = new EventEmitter();
  });

  it("takes the first of the keys, and gives the terminal back as it was", async () => {
    const key = readKey(keyboard, ["y", "n"], never, ask, () => {});
    await once(screen, "asked");
    expect(keyboard).toMatchObject({ raw: true, flowing: true });
    keyboard.type("x");
    keyboard.type("Y\r");
    expect(await key).toBe("y");
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
    expect(keyboard.listenerCount("data")).toBe(0);
  });

  it("does not take what was typed before the question was put", async () => {
    keyboard.type("y");
    const key = readKey(keyboard, ["y", "n"], never, ask, () => {});
    await once(screen, "asked");
    keyboard.type("n");
    expect(await key).toBe("n");
  });

  it("takes no key out of a piece of pasted text", async () => {
    const withdrawn = new AbortController();
    const key = readKey(keyboard, ["y"], withdrawn.signal, ask, () => {});
    await once(screen, "asked");
    keyboard.type("yes please");
    withdrawn.abort();
    expect(await key).toBeUndefined();
    expect(keyboard.raw).toBe(false);
  });

  it("does not put a question that was withdrawn before", async () => {
    const withdrawn = new AbortController();
    const asked = vi.fn<() => void>();
    const key = readKey(keyboard, ["y"], withdrawn.signal, asked, () => {});
    withdrawn.abort();
    expect(await key).toBeUndefined();
    expect(asked).not.toHaveBeenCalled();
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
  });

  it("hands Ctrl-C on, at any time", async () => {
    const onControlC = vi.fn<() => void>();
    const withdrawn = new AbortController();
    keyboard.type("\u0003");
    const key = readKey(keyboard, ["y"], withdrawn.signal, ask, onControlC);
    await once(screen, "asked");
    expect(onControlC).toHaveBeenCalledOnce();
    keyboard.type("\u0003");
    expect(onControlC).toHaveBeenCalledTimes(2);
    withdrawn.abort();
    expect(await key).toBeUndefined();
  });
});

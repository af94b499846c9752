import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Coalescer } from "./coalescer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("Coalescer", () => {
  it("sends the first piece at once and joins what comes within the interval", () => {
    const sent: string[] = [];
    const coalescer = new Coalescer<"text">(40, 0, (_, text) => sent.push(text));
    coalescer.push("text", "a");
    expect(sent).toEqual(["a"]);
    coalescer.push("text", "b");
    coalescer.push("text", "c");
    vi.advanceTimersByTime(39);
    expect(sent).toEqual(["a"]);
    vi.advanceTimersByTime(1);
    expect(sent).toEqual(["a", "bc"]);
    vi.advanceTimersByTime(200);
    coalescer.push("text", "d");
    expect(sent).toEqual(["a", "bc", "d"]);
    coalescer.flush();
  });

  it("lets the first piece wait for more where it may", () => {
    const sent: string[] = [];
    const coalescer = new Coalescer<"text">(100, 30, (_, text) => sent.push(text));
    coalescer.push("text", "a");
    coalescer.push("text", "b");
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(30);
    expect(sent).toEqual(["ab"]);
    coalescer.flush();
  });

  it("keeps the order of kinds, and loses nothing at the end", () => {
    const sent: string[] = [];
    const coalescer = new Coalescer<"x" | "y">(40, 0, (kind, text) => sent.push(`${kind}:${text}`));
    coalescer.push("x", "1");
    coalescer.push("x", "2");
    coalescer.push("y", "3");
    coalescer.push("y", "4");
    coalescer.flush();
    expect(sent).toEqual(["x:1", "x:2", "y:34"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

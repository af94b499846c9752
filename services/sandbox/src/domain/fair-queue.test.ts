import { describe, expect, it } from "vitest";
import { FairQueue } from "./fair-queue.ts";

function filled(maximum: number, entries: readonly string[]): FairQueue<string> {
  const queue = new FairQueue<string>(maximum);
  for (const item of entries) queue.push({ person: item[0]!, item });
  return queue;
}

function drained(queue: FairQueue<string>): string[] {
  return Array.from({ length: queue.size }, () => queue.shift()!);
}

describe("FairQueue", () => {
  it("goes round the persons, and keeps the order of each", () => {
    expect(drained(filled(9, ["a1", "a2", "a3", "b1", "c1", "c2"]))).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
  });

  it("tells the position at which each is taken", () => {
    const entries = ["a1", "a2", "a3", "b1", "c1", "c2"];
    const queue = filled(9, entries);
    queue.shift();
    const positions = new Map(entries.map((item) => [item, queue.position({ person: item[0]!, item })]));
    expect(positions.get("a1")).toBe(0);
    drained(queue).forEach((item, index) => expect(positions.get(item)).toBe(index + 1));
  });

  it("full, drops the newest of the longest line, else the newcomer", () => {
    const queue = filled(3, ["a1", "a2", "a3"]);
    expect(queue.push({ person: "b", item: "b1" })).toBe("a3");
    expect(queue.push({ person: "a", item: "a4" })).toBe("a4");
    expect(queue.push({ person: "b", item: "b2" })).toBe("b2");
    expect(drained(queue)).toEqual(["a1", "b1", "a2"]);
  });

  it("forgets what is removed, with the line that it leaves empty", () => {
    const queue = filled(9, ["a1", "b1", "b2"]);
    queue.remove({ person: "a", item: "a1" });
    queue.remove({ person: "a", item: "a1" });
    expect(queue.take((item) => item === "b1")).toEqual(["b1"]);
    expect(queue.size).toBe(1);
    expect(queue.shift()).toBe("b2");
    expect(queue.shift()).toBeUndefined();
  });
});

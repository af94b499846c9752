import { expect, it } from "vitest";
import { FrameQueue } from "./frame-queue.ts";

const all = (queue: FrameQueue<string>): string[] => {
  const taken: string[] = [];
  for (let frame = queue.take(); frame !== undefined; frame = queue.take()) taken.push(frame);
  return taken;
};

it("holds 64 KB of a topic and not more, and takes more of the others", () => {
  const queue = new FrameQueue<string>();
  expect(queue.push("a", "huge", 1_000_000)).toBe(true);
  expect(queue.push("a", "more", 1)).toBe(false);
  expect(queue.push("b", "other", 64 * 1024)).toBe(true);
  queue.pushAlways("a", "end");
  expect(all(queue)).toEqual(["huge", "other", "end"]);
  expect(queue.push("a", "again", 1)).toBe(true);
});

it("has only the last of what replaces itself", () => {
  const queue = new FrameQueue<string>();
  queue.replace("a", "one", 60_000);
  queue.pushAlways("a", "caught up");
  queue.replace("a", "two", 60_000);
  queue.replace("a", "three", 60_000);
  expect(all(queue)).toEqual(["caught up", "three"]);
});

it("tells when something was read", async () => {
  const queue = new FrameQueue<string>();
  queue.push("a", "one", 1);
  const change = queue.change(new AbortController().signal);
  queue.take();
  await expect(change).resolves.toBeUndefined();
  await expect(queue.change(AbortSignal.abort())).resolves.toBeUndefined();
});

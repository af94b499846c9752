import { getEventListeners, once } from "node:events";
import { afterEach, expect, it } from "vitest";
import { ModelError } from "./model-error.ts";
import { TimeLimit } from "./time-limit.ts";

const over = new ModelError({ class: "timeout", reason: "over", message: "It took too long.", advice: "", provider: "p" });
const caller = new AbortController();
const limits: TimeLimit[] = [];
const limit = (signal: AbortSignal, milliseconds: number): TimeLimit => {
  const made = new TimeLimit(signal, milliseconds, () => over);
  limits.push(made);
  return made;
};
afterEach(() => limits.splice(0).forEach((each) => each.close()));

it("ends when its time is over, and says so", async () => {
  const short = limit(caller.signal, 5);
  await once(short.signal, "abort");
  expect(short.signal.reason).toBe(over);
  expect(short.exceeded).toBe(over);
  expect(caller.signal.aborted).toBe(false);
});

it("ends with its caller, also one that has left already", () => {
  const cancelled = new AbortController();
  const during = limit(cancelled.signal, 60_000);
  cancelled.abort(new Error("gone"));
  const after = limit(cancelled.signal, 60_000);
  expect([during.signal.reason, after.signal.reason]).toEqual([cancelled.signal.reason, cancelled.signal.reason]);
  expect([during.exceeded, after.exceeded]).toEqual([undefined, undefined]);
});

it("leaves nothing behind on its caller's signal", () => {
  limit(caller.signal, 60_000).close();
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
});

it("tells who listens why it ends, at once where it has, and nobody who does not listen any more", () => {
  const cancelled = new AbortController();
  const during = limit(cancelled.signal, 60_000);
  const heard: unknown[] = [];
  during.onEnd((reason) => heard.push(["first", reason]));
  during.onEnd((reason) => heard.push(["second", reason]))();
  const gone = new Error("gone");
  cancelled.abort(gone);
  during.onEnd((reason) => heard.push(["third", reason]));
  expect(heard).toEqual([
    ["first", gone],
    ["third", gone],
  ]);
  expect(during.signal.reason).toBe(gone);
});

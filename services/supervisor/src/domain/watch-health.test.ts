import { afterEach, describe, expect, it, vi } from "vitest";
import { watchHealth, type HealthPolicy } from "./watch-health.ts";

const policy: HealthPolicy = { intervalMilliseconds: 100, deadlineMilliseconds: 100, maximumMisses: 2 };
const never = new Promise<void>(() => {});

afterEach(() => vi.useRealTimers());

/** Watches a process that answers as told, question by question, and then always, until it has answered thrice in a row. */
async function watch(answers: readonly (() => Promise<void>)[], { maximumMisses }: HealthPolicy = policy) {
  const changes: ("silent" | "answers")[] = [];
  const over = new AbortController();
  let asked = 0;
  const check = (): Promise<void> => {
    const answer = answers[asked++];
    if (asked === answers.length + 3) over.abort();
    return answer?.() ?? Promise.resolve();
  };
  const onChange = (since: Date | undefined): void => void changes.push(since === undefined ? "answers" : "silent");
  return { silentSince: await watchHealth(check, { ...policy, maximumMisses }, onChange, over.signal), changes };
}

describe("watchHealth", () => {
  it("tells since when a process is silent that has not answered often enough in a row", async () => {
    const before = Date.now();
    const { silentSince, changes } = await watch([() => Promise.reject(new Error("refused")), () => never]);
    expect(changes).toEqual(["silent"]);
    expect(silentSince!.getTime()).toBeGreaterThanOrEqual(before);
    expect(silentSince!.getTime()).toBeLessThan(Date.now());
  });

  it("lets a process be that was busy, however often", async () => {
    const busy = (): Promise<void> => never;
    const well = (): Promise<void> => Promise.resolve();
    const { silentSince, changes } = await watch([busy, well, busy, well, busy]);
    expect(silentSince).toBeUndefined();
    expect(changes).toEqual(["silent", "answers", "silent", "answers", "silent", "answers"]);
  });

  it("does not count what was missed while this process stood still", async () => {
    const standsStill = (): Promise<void> => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      return new Promise((resolve) => setTimeout(resolve, 50));
    };
    expect(await watch([standsStill], { ...policy, maximumMisses: 1 })).toEqual({ silentSince: undefined, changes: [] });
  });

  it("does not count what was missed while the machine slept, nor what was missed before", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const sleeps = (): Promise<void> => {
      vi.setSystemTime(8 * 60 * 60 * 1_000);
      return never;
    };
    const { silentSince } = await watch([() => never, sleeps, () => never]);
    expect(silentSince).toBeUndefined();
  });
});

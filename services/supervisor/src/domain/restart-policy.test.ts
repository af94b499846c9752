import { describe, expect, it } from "vitest";
import { failuresAfter, RESTART_POLICY, restartPause } from "./restart-policy.ts";

/** The pauses before each start of a process that is up for so long each time. */
function pausesOf(upMilliseconds: number, lives: number): number[] {
  let failures = 0;
  return Array.from({ length: lives }, () => {
    failures = failuresAfter(RESTART_POLICY, failures, upMilliseconds);
    return restartPause(RESTART_POLICY, failures++);
  });
}

describe("RESTART_POLICY", () => {
  it("brings a process back at once that works until somebody kills it, however often", () => {
    expect(pausesOf(15_000, 20)).toEqual(Array(20).fill(200));
  });

  it("waits longer and longer for a process that ends as soon as it is up", () => {
    const pauses = pausesOf(1_000, 10);
    expect(pauses.slice(0, 4)).toEqual([200, 400, 800, 1_600]);
    expect(pauses.at(-1)).toBe(30_000);
  });
});

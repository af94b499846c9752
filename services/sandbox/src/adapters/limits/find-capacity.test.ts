import { describe, expect, it } from "vitest";
import { findCapacity } from "./find-capacity.ts";

const GIBIBYTE = 1_024 ** 3;

describe("findCapacity", () => {
  it.each([
    ["processors, where memory holds more", 22, 2, 64],
    ["memory, where processors are many", 4, 16, 32],
    ["a least number on the smallest machine", 0.25, 1, 4],
    ["the number of sessions that can be open, on the largest", 512, 128, 1_000],
  ])("is found from %s", (_, gibibytes, processors, sessions) => {
    expect(findCapacity(0, 1, { availableBytes: gibibytes * GIBIBYTE, processors }).sessions).toBe(sessions);
  });

  it("says what it was found from", () => {
    expect(findCapacity(0, 1, { availableBytes: 4 * GIBIBYTE, processors: 16 }).detail).toBe(
      "32: 4096 MiB of memory available at start hold 32, 16 processors 512; HLVM_SANDBOX_SESSIONS sets another number",
    );
    expect(findCapacity(0, 1).sessions).toBeGreaterThanOrEqual(4);
  });

  it("is divided among the replicas of one machine, and says so", () => {
    const machine = { availableBytes: 4 * GIBIBYTE, processors: 16 };
    expect(findCapacity(0, 2, machine)).toMatchObject({ sessions: 16, detail: expect.stringContaining("which 2 replicas share") });
    expect(findCapacity(0, 100, machine).sessions).toBe(4);
  });

  it("is what the setting says, where there is one", () => {
    expect(findCapacity(7, 2)).toEqual({ sessions: 7, detail: "7, as HLVM_SANDBOX_SESSIONS says" });
  });
});

import { describe, expect, it } from "vitest";
import { readSupervisorConfig } from "./config.ts";

const environment = { HOME: "/home/ada" };

describe("HLVM_REPLICAS", () => {
  it("is one where nothing is said, and what is said otherwise", () => {
    expect(readSupervisorConfig(environment).replicas).toBe(1);
    expect(readSupervisorConfig({ ...environment, HLVM_REPLICAS: "2" }).replicas).toBe(2);
  });

  it.each(["0", "9", "two", "1.5"])("is not %j, and what it may be is told", (value) => {
    expect(() => readSupervisorConfig({ ...environment, HLVM_REPLICAS: value })).toThrow(
      `HLVM_REPLICAS must be a whole number from 1 to 8, not "${value}"`,
    );
  });
});

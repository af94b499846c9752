import { testPrincipal } from "@hlvm/testing/test-identity";
import { describe, expect, it } from "vitest";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();

describe("DescribeIsolation", () => {
  it("describes what isolates", async () => {
    const described = await service.client.describeIsolation({}, await service.headersOf(testPrincipal));
    expect(described.driver).toBe("bubblewrap");
    const active = described.features.filter((feature) => feature.active).map((feature) => feature.name);
    expect(active).toEqual(
      expect.arrayContaining([
        "user namespace",
        "network namespace",
        "seccomp",
        "process limit",
        "memory limit",
        "cleared environment",
        "sessions at a time",
      ]),
    );
    expect(described.features.find((feature) => feature.name === "workspace quota")).toMatchObject({
      active: false,
      detail: expect.stringContaining("quota"),
    });
  });
});

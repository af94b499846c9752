import { afterAll, beforeAll, expect, it } from "vitest";
import type { ServiceState } from "@hlvm/mesh/mesh-state";
import { createEdgeTransport } from "../mesh/create-edge-transport.ts";
import { ScriptedEdge, TOKEN } from "../testing/scripted-edge.ts";
import type { Check } from "./check.ts";
import { meshChecks } from "./mesh-checks.ts";

const edge = new ScriptedEdge(async () => {});

beforeAll(() => edge.start());
afterAll(() => edge.close());

async function checksOf(services: readonly ServiceState[]): Promise<Check[]> {
  const state = {
    supervisorPid: 1,
    lifetime: "foreground" as const,
    edgeUrl: edge.url,
    tokenFile: "/token",
    controlSocket: "/socket",
    startedAt: "",
    services,
  };
  const lost = new Promise<void>(() => {});
  return meshChecks({ transport: createEdgeTransport(edge.url, TOKEN), state, lost, release: async () => {} });
}

it("a part that is down fails, Meilisearch is only warned of, and the log is named", async () => {
  const checks = await checksOf([
    { name: "policy", pid: 4_711, logFile: "/logs/policy.log" },
    { name: "PostgreSQL", logFile: "/logs/postgres.log" },
    { name: "Meilisearch", logFile: "/logs/meilisearch.log" },
  ]);
  expect(checks).toContainEqual({ name: "policy", result: "ok", detail: "up, process 4711", advice: "" });
  expect(checks).toContainEqual(
    expect.objectContaining({ name: "PostgreSQL", result: "fail", detail: "down", advice: expect.stringContaining("/logs/postgres.log") }),
  );
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: "Meilisearch",
      result: "warn",
      detail: "down",
      advice: expect.stringContaining("/logs/meilisearch.log"),
    }),
  );
});

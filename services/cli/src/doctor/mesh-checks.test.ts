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
  return meshChecks({ transport: createEdgeTransport(edge.url, TOKEN), state, lost, endsWithUs: false, release: async () => {} });
}

const down = {
  state: "down",
  since: "2026-11-21T10:00:00Z",
  reason: "it ended by itself (SIGKILL)",
  nextAttempt: "2026-11-21T10:00:30Z",
} as const;

it("a process that is down or does not answer fails, Meilisearch is only warned of, and the log is named", async () => {
  const checks = await checksOf([
    { name: "policy", state: "up", since: "", pid: 4_711, logFile: "/logs/policy.log" },
    { name: "memory", state: "not_answering", since: "2026-11-21T10:00:00Z", pid: 4_712, logFile: "/logs/memory.log" },
    { name: "PostgreSQL", ...down, logFile: "/logs/postgres.log" },
    { name: "Meilisearch", ...down, logFile: "/logs/meilisearch.log" },
  ]);
  expect(checks).toContainEqual({ name: "policy", result: "ok", detail: "up, process 4711", advice: "" });
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: "PostgreSQL",
      result: "fail",
      detail: "PostgreSQL is down since 2026-11-21T10:00:00Z: it ended by itself (SIGKILL). It is started again at 2026-11-21T10:00:30Z.",
      advice: expect.stringContaining("/logs/postgres.log"),
    }),
  );
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: "memory",
      result: "fail",
      detail: expect.stringContaining("has not answered since 2026-11-21T10:00:00Z"),
    }),
  );
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: "Meilisearch",
      result: "warn",
      detail: expect.stringContaining("down since"),
      advice: expect.stringContaining("/logs/meilisearch.log"),
    }),
  );
});

import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Database } from "@hlvm/postgres/database";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import type { OrchestratorProcess } from "./orchestrator-process.ts";
import { startTestOrchestrator, type TestOrchestrator } from "./test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));

export interface UsedOrchestrator extends Omit<TestOrchestrator, "orchestrator" | "stop"> {
  readonly orchestrator: OrchestratorProcess;
  readonly database: Database;
}

/**
 * One orchestrator on a database of its own for all tests of a file, each of which finds the services around it as usual.
 * It is there from the first hook on.
 */
export function useTestOrchestrator(settings: Readonly<Record<string, string>> = {}): UsedOrchestrator {
  const used = {} as UsedOrchestrator;
  const cleanups: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const { database, url, drop } = await createTestDatabase(MIGRATIONS);
    cleanups.push(drop);
    const { stop, ...started } = await startTestOrchestrator(url, settings);
    cleanups.push(stop);
    Object.assign(used, { ...started, database });
  });

  afterEach(() => used.fake.reset());

  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  return used;
}

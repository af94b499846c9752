import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { startPostgres, type RunningPostgres } from "@hlvm/embedded-postgres/start-postgres";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "./testing/event-values.ts";
import { runCallsOnce } from "./testing/run-calls-once.ts";
import { startTestOrchestrator, type TestOrchestrator } from "./testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A run whose tool goes on until the test lets it end. */
async function runningTool(test: TestOrchestrator) {
  const gate = Promise.withResolvers<void>();
  test.answers(["I run it.", [{ tool: "shell_exec", arguments: { command: "make" } }]], ["Done."]);
  const ran = runCallsOnce(test.fake.behaviour, () => gate.promise.then(() => ({ success: true, content: "made" })));
  const { sessionId, sequence } = await test.ask("q");
  await test.watch(sessionId, sequence, ({ payload }) => payload.case === "toolOutput");
  return { sessionId, sequence, ran, endTool: gate.resolve };
}

async function onTestDatabase(): Promise<TestOrchestrator> {
  const database = await createTestDatabase(MIGRATIONS);
  cleanups.push(database.drop);
  const test = await startTestOrchestrator(database.url);
  cleanups.push(test.stop);
  return test;
}

describe("the orchestrator's process", () => {
  it("says which settings are missing, and that the database cannot be reached", async () => {
    const test = await onTestDatabase();
    await expect(startTestOrchestrator("")).rejects.toThrow("HLVM_DATABASE_URL is not set");
    await expect(startTestOrchestrator("postgresql://x:y@/z?host=/nonexistent")).rejects.toThrow("PostgreSQL cannot be reached");
    expect(test.orchestrator.output()).toContain('"ready"');
  });
});

describe("PostgreSQL lost in mid-run", () => {
  it("stops the run, tells watchers, loses nothing, and has the run go on when it is back", async () => {
    const directory = mkdtempSync(join(tmpdir(), "hlvm-lost-"));
    const options = {
      directory: join(directory, "p"),
      socketDirectory: join(directory, "s"),
      logFile: join(directory, "log"),
      durable: true,
    };
    let postgres: RunningPostgres = await startPostgres(options);
    cleanups.push(async () => {
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    const test = await startTestOrchestrator(postgres.url("postgres"));
    cleanups.push(test.stop);
    const { sessionId, sequence, endTool, ran } = await runningTool(test);
    const watching = test.watch(sessionId, sequence);
    watching.catch(() => undefined);
    await postgres.stop();

    await expect(watching).rejects.toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringContaining("PostgreSQL cannot be reached"),
    });
    await expect(test.ask("another")).rejects.toMatchObject({ code: Code.Unavailable });
    endTool();
    await expect.poll(() => test.orchestrator.output(), { timeout: 20_000 }).toContain("a run was handed over");

    postgres = await startPostgres(options);
    const events = await test.watch(sessionId, sequence);
    expect(events.map((event) => Number(event.sequence))).toEqual(events.map((_, index) => Number(sequence) + index));
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
    expect(ran).toHaveLength(1);
  });
});

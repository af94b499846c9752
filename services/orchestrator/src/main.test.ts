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
import { say } from "./testing/say.ts";
import { startTestOrchestrator, type RunSettings, type TestOrchestrator } from "./testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
const UNHELD = "Nobody held this run any more: the orchestrator that did has ended, or could not reach its database.";
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A run whose tool goes on until it is stopped. */
async function runningTool(
  test: TestOrchestrator,
  more: RunSettings = {},
): Promise<{ sessionId: string; sequence: bigint; toolEnded: Promise<void> }> {
  let ended = (): void => undefined;
  const toolEnded = new Promise<void>((resolve) => (ended = resolve));
  test.fake.behaviour.generate = () => say("I run it.", [{ tool: "shell_exec", arguments: { command: "sleep 60" } }]);
  test.fake.behaviour.execute = async function* (_, { signal }) {
    yield { event: { case: "output", value: { text: "sleeping\n" } } };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    ended();
  };
  const { sessionId, sequence } = await test.ask("q", more);
  await test.watch(sessionId, sequence, ({ payload }) => payload.case === "toolOutput");
  return { sessionId, sequence, toolEnded };
}

async function onTestDatabase(): Promise<{ test: TestOrchestrator; query: (sql: string) => Promise<unknown> }> {
  const database = await createTestDatabase(MIGRATIONS);
  cleanups.push(database.drop);
  const test = await startTestOrchestrator(database.url);
  cleanups.push(test.stop);
  return { test, query: (sql) => database.database.query(sql) };
}

describe("the orchestrator's process", () => {
  it("ends its runs honestly on SIGTERM", async () => {
    const { test } = await onTestDatabase();
    const { sessionId, sequence, toolEnded } = await runningTool(test);
    await test.orchestrator.stop("SIGTERM");
    await toolEnded;
    test.orchestrator = await test.startProcess();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { errorCode: "cancelled" } }]);
    expect(valuesOf(events, "runStopped")).toMatchObject([
      { reason: StopReason.ERROR, message: "The orchestrator ended during this run.", advice: expect.stringContaining("--resume") },
    ]);
  });

  it("ends what a killed process left open when the next one starts, and the session goes on", async () => {
    const { test, query } = await onTestDatabase();
    const { sessionId, sequence } = await runningTool(test);
    await test.orchestrator.stop("SIGKILL");
    await query("UPDATE run SET lease_until = now() - interval '1 second'");
    test.orchestrator = await test.startProcess();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.ERROR, turns: 1, message: UNHELD }]);

    test.fake.behaviour.generate = () => say("I see.");
    const next = await test.ask("go on", { sessionId });
    await test.watch(sessionId, next.sequence);
    const sent = test.fake.seen.requests.at(-1)!.messages.flatMap(({ parts }) => parts.map(({ part }) => part));
    expect(sent.find(({ case: type }) => type === "toolResult")).toMatchObject({
      value: { isError: true, content: expect.stringContaining("may or may not") },
    });
  });

  it("does not advise to resume a stateless run whose process died", async () => {
    const { test, query } = await onTestDatabase();
    const { sessionId, sequence } = await runningTool(test, { stateless: true });
    await test.orchestrator.stop("SIGKILL");
    await query("UPDATE run SET lease_until = now() - interval '1 second'");
    test.orchestrator = await test.startProcess();
    const [stopped] = valuesOf(await test.watch(sessionId, sequence), "runStopped");
    expect(stopped!.advice).toContain("Ask again");
    expect(stopped!.advice).not.toContain("--resume");
  });

  it("says which settings are missing, and that the database cannot be reached", async () => {
    const { test } = await onTestDatabase();
    await expect(startTestOrchestrator("")).rejects.toThrow("HLVM_DATABASE_URL is not set");
    await expect(startTestOrchestrator("postgresql://x:y@/z?host=/nonexistent")).rejects.toThrow("PostgreSQL cannot be reached");
    expect(test.orchestrator.output()).toContain('"ready"');
  });
});

describe("PostgreSQL lost in mid-run", () => {
  it("stops the tool, tells watchers, loses nothing, and ends the run when it is back", async () => {
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
    const { sessionId, sequence, toolEnded } = await runningTool(test);
    const watching = test.watch(sessionId, sequence);
    watching.catch(() => undefined);
    await postgres.stop();

    await expect(watching).rejects.toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringContaining("PostgreSQL cannot be reached"),
    });
    await expect(test.ask("another")).rejects.toMatchObject({ code: Code.Unavailable });
    await toolEnded;

    postgres = await startPostgres(options);
    const events = await test.watch(sessionId, sequence);
    expect(events.map((event) => Number(event.sequence))).toEqual(events.map((_, index) => Number(sequence) + index));
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.ERROR, message: UNHELD }]);
  }, 60_000);
});

import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { runCallsOnce } from "./run-calls-once.ts";
import type { SaidCall } from "./say.ts";
import { startTestOrchestrator, type TestOrchestrator } from "./test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
export const DONE = { success: true, content: "one line", summary: "one line" };

interface Started {
  readonly test: TestOrchestrator;
  readonly query: (sql: string) => Promise<unknown>;
  /** Kills the process, at the end of its lease: the next one need not wait for that. */
  readonly kill: () => Promise<void>;
}

/** @returns how to start an orchestrator, on a database of its own, whose process the test may end; both are gone after each test */
export function useReplaceableProcess(): (settings?: Readonly<Record<string, string>>) => Promise<Started> {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  });
  return async (settings = {}) => {
    const { database, url, drop } = await createTestDatabase(MIGRATIONS);
    cleanups.push(drop);
    const test = await startTestOrchestrator(url, settings);
    cleanups.push(test.stop);
    const kill = async (): Promise<void> => {
      await test.orchestrator.stop("SIGKILL");
      await database.query("UPDATE replica SET lease_until = now()");
    };
    return { test, query: (sql) => database.query(sql), kill };
  };
}

/** Ends the process that holds the run, and starts another one. */
export async function replace(test: TestOrchestrator, signal: NodeJS.Signals): Promise<void> {
  await test.orchestrator.stop(signal);
  test.orchestrator = await test.startProcess();
}

export const shellCall = (command: string): SaidCall => ({ id: command, tool: "shell_exec", arguments: { command } });
export const isCase = (type: Event["payload"]["case"]) => (event: Event) => event.payload.case === type;
export const idsOf = (ids: readonly string[]): string[] => ids.map((id) => id.replace(/^[^.]*/, "r"));

/** A run with one call of the shell that goes on until the test lets it end. */
export async function runningCall(test: TestOrchestrator) {
  const gate = Promise.withResolvers<void>();
  test.answers(["I run it.", [shellCall("make")]], ["Done."]);
  const ran = runCallsOnce(test.fake.behaviour, () => gate.promise.then(() => DONE));
  const asked = await test.ask("q");
  await test.watch(asked.sessionId, asked.sequence, isCase("toolOutput"));
  return { ...asked, ran, endCall: gate.resolve };
}

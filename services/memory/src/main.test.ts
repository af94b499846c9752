import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSigningKey } from "@hlvm/identity/signing-key";
import type { StartMessage } from "@hlvm/service/run-service";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";

let directory: string;
let test: TestDatabase;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-memory-"));
  test = await createTestDatabase(fileURLToPath(new URL("../migrations", import.meta.url)));
  const keys = join(directory, "keys.json");
  writeFileSync(keys, JSON.stringify({ keys: [(await createSigningKey("edge")).publicJwk] }));
  environment = {
    HLVM_LOG_LEVEL: "error",
    HLVM_TOKEN_PUBLIC_KEYS: keys,
    HLVM_GRANT_PUBLIC_KEYS: keys,
    HLVM_DATABASE_URL: test.url,
    HLVM_MEILISEARCH_URL: "http://127.0.0.1:1",
    HLVM_MEILISEARCH_KEY: "key",
  };
});
afterAll(async () => {
  await test.drop();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the service as its own process, hears what it says of its start, and stops it. */
async function start(changes: NodeJS.ProcessEnv): Promise<{ message: StartMessage; exitCode: number }> {
  const child = fork(fileURLToPath(new URL("./main.ts", import.meta.url)), {
    env: { ...environment, ...changes },
    silent: true,
    execArgv: [],
  });
  const exited = once(child, "exit");
  const [message] = (await once(child, "message")) as [StartMessage];
  child.kill("SIGTERM");
  const [exitCode] = (await exited) as [number];
  return { message, exitCode };
}

describe("the service", () => {
  it("starts without Meilisearch", async () => {
    expect(await start({})).toMatchObject({ message: { kind: "ready", port: expect.any(Number) }, exitCode: 0 });
  });

  it("does not start without PostgreSQL, and says so", async () => {
    const { message, exitCode } = await start({ HLVM_DATABASE_URL: "postgresql://x:secret@/x?host=/nonexistent" });
    expect(message).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("PostgreSQL cannot be reached"),
      advice: expect.stringContaining("hlvm status"),
    });
    expect(JSON.stringify(message)).not.toContain("secret");
    expect(exitCode).toBe(1);
  });

  it("names every setting that is missing", async () => {
    const { message } = await start({ HLVM_DATABASE_URL: "", HLVM_MEILISEARCH_KEY: "" });
    expect(message).toMatchObject({ kind: "failed", message: expect.stringMatching(/HLVM_DATABASE_URL.*HLVM_MEILISEARCH_KEY/) });
  });
});

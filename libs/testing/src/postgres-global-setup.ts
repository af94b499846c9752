import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "@hlvm/embedded-postgres/start-postgres";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One PostgreSQL for the whole test run; `createTestDatabase` takes databases from it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-test-"));
  const postgres = await startPostgres({
    directory: join(directory, "postgres"),
    socketDirectory: join(directory, "socket"),
    logFile: join(directory, "postgres.log"),
    durable: false,
  });
  project.provide("postgresUrl", postgres.url("postgres"));
  return async () => {
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}

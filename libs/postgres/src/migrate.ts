import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Database, Queries } from "./database.ts";
import { migrationFiles } from "./migration-files.ts";

const MIGRATION_LOCK = 4_817_115;
/**
 * The version before may be at work meanwhile. Who waits for a lock on a table holds up everybody who comes after it, so a
 * migration gives way after half a second, less than it takes PostgreSQL to find a deadlock and end one of the two, and tries again.
 */
const LOCK_TIMEOUT = "SET LOCAL lock_timeout = '500ms'";
/** PostgreSQL's codes for a lock that was not had in time, and for a deadlock. */
const IN_THE_WAY = new Set(["55P03", "40P01"]);
const RETRY_MILLISECONDS = 250;
/** Less than a service has to start. */
const DEADLINE_MILLISECONDS = 20_000;
const CONNECT_ATTEMPTS = 3;
/** What is refused is so at once; only what was waited for in vain may come at the next attempt. */
const IN_VAIN_MILLISECONDS = 4_000;

/**
 * Applies `NNNN_name.sql` files that were not applied yet, in order, each in its own transaction, one process at a time.
 * @returns the names that were applied
 */
export async function migrate(database: Database, folder: string): Promise<string[]> {
  await onceConnected(database, async (queries) => {
    // IF NOT EXISTS alone fails where two processes find no table at the same time.
    await queries.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await queries.query("CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())");
  });
  const applied: string[] = [];
  const deadline = performance.now() + DEADLINE_MILLISECONDS;
  for (const name of migrationFiles(folder)) {
    const sql = readFileSync(join(folder, name), "utf8");
    if (await applyInTime(database, name, sql, deadline)) applied.push(name);
  }
  return applied;
}

/** Where many services start at once on a machine that is busy, PostgreSQL answers the first connection of one too late. */
async function onceConnected(database: Database, work: (queries: Queries) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const began = performance.now();
    try {
      return await database.transaction(work);
    } catch (cause) {
      const isUnreachable = cause instanceof HlvmError && cause.reason === "database_unreachable";
      if (!isUnreachable || attempt === CONNECT_ATTEMPTS || performance.now() - began < IN_VAIN_MILLISECONDS) throw cause;
    }
  }
}

/** @returns whether it was not applied yet */
async function applyInTime(database: Database, name: string, sql: string, deadline: number): Promise<boolean> {
  for (;;) {
    try {
      return await database.transaction((queries) => applyOnce(queries, name, sql));
    } catch (cause) {
      if (!IN_THE_WAY.has((cause as { code?: string }).code ?? "") || performance.now() > deadline) throw failed(name, cause);
    }
    await sleep(RETRY_MILLISECONDS);
  }
}

async function applyOnce(queries: Queries, name: string, sql: string): Promise<boolean> {
  await queries.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  if ((await queries.query("SELECT FROM migration WHERE name = $1", [name])).length > 0) return false;
  await queries.query(LOCK_TIMEOUT);
  await queries.query(sql);
  await queries.query("INSERT INTO migration (name) VALUES ($1)", [name]);
  return true;
}

/** What is wrong with the database as a whole says so itself. */
function failed(name: string, cause: unknown): unknown {
  if (cause instanceof HlvmError) return cause;
  const message = `Migration ${name} failed: ${(cause as Error).message}.`;
  return new HlvmError({ code: "internal", reason: "migration_failed", message, cause });
}

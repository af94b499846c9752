import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Database } from "./database.ts";
import { migrationFiles } from "./migration-files.ts";

const MIGRATION_LOCK = 4_817_115;

/**
 * Applies `NNNN_name.sql` files that were not applied yet, in order, each in its own transaction, one process at a time.
 * @returns the names that were applied
 */
export async function migrate(database: Database, folder: string): Promise<string[]> {
  await database.transaction(async (queries) => {
    // IF NOT EXISTS alone fails where two processes find no table at the same time.
    await queries.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await queries.query("CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())");
  });
  const applied: string[] = [];
  for (const name of migrationFiles(folder)) {
    const isNew = await database.transaction(async (queries) => {
      await queries.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
      if ((await queries.query("SELECT FROM migration WHERE name = $1", [name])).length > 0) return false;
      await queries.query(readFileSync(join(folder, name), "utf8")).catch((cause: unknown) => {
        throw new HlvmError({
          code: "internal",
          reason: "migration_failed",
          message: `Migration ${name} failed: ${(cause as Error).message}.`,
          cause,
        });
      });
      await queries.query("INSERT INTO migration (name) VALUES ($1)", [name]);
      return true;
    });
    if (isNew) applied.push(name);
  }
  return applied;
}

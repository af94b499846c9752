import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Queries } from "./database.ts";
import { migrationFiles } from "./migration-files.ts";

/** PostgreSQL's codes for a table that is not there, and for one that this role may not read. */
const HAS_NO_MIGRATIONS = new Set(["42P01", "42501"]);

/**
 * For a service whose database is migrated by somebody else, since the service's own role may not change it.
 * @throws HlvmError `schema_outdated` where a migration of the folder was not applied yet
 */
export async function checkSchema(queries: Queries, folder: string): Promise<void> {
  const applied = new Set(await appliedMigrations(queries));
  const missing = migrationFiles(folder).filter((name) => !applied.has(name));
  if (missing.length === 0) return;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "schema_outdated",
    message: `The database lacks ${missing.join(", ")}.`,
    advice: `Apply what is missing of ${folder} as the role that owns the database; \`hlvm up\` does so for a local one.`,
  });
}

async function appliedMigrations(queries: Queries): Promise<string[]> {
  try {
    return (await queries.query<{ name: string }>("SELECT name FROM migration")).map(({ name }) => name);
  } catch (cause) {
    if (HAS_NO_MIGRATIONS.has((cause as { code?: string }).code ?? "")) return [];
    throw cause;
  }
}

import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { testLog } from "./test-log.ts";

export interface TestDatabase {
  readonly database: Database;
  readonly url: string;
  /** Closes the connections and drops it. */
  readonly drop: () => Promise<void>;
}

/**
 * A database of its own with a service's migrations applied: a copy of a template that is migrated once a run.
 * @param role whose rights, granted by the migrations, the connections have; the superuser's where none is named
 */
export async function createTestDatabase(migrations: string, role?: string): Promise<TestDatabase> {
  const admin = new Database(inject("postgresUrl"), testLog);
  const template = `template_${hashOf(migrations)}`;
  const name = `test_${randomBytes(8).toString("hex")}`;
  await prepareTemplate(admin, template, migrations);
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  if (role !== undefined) await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}' IN ROLE ${role}`);
  const url = role === undefined ? urlOf(name) : urlOf(name).replace(/\/\/[^@]*@/, `//${name}:${name}@`);
  const database = new Database(url, testLog);
  return {
    database,
    url,
    drop: async () => {
      await database.close();
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      if (role !== undefined) await admin.query(`DROP ROLE ${name}`);
      await admin.close();
    },
  };
}

async function prepareTemplate(admin: Database, template: string, migrations: string): Promise<void> {
  const making = new Database(inject("postgresUrl"), testLog);
  try {
    await making.transaction(async (queries) => {
      await queries.query("SELECT pg_advisory_xact_lock(hashtext($1))", [template]);
      const [ready] = await queries.query<{ datistemplate: boolean }>("SELECT datistemplate FROM pg_database WHERE datname = $1", [
        template,
      ]);
      if (ready?.datistemplate === true) return;
      await admin.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${template}`);
      const database = new Database(urlOf(template), testLog);
      await migrate(database, migrations);
      await database.close();
      await admin.query(`ALTER DATABASE ${template} IS_TEMPLATE true`);
    });
  } finally {
    await making.close();
  }
}

function urlOf(database: string): string {
  return inject("postgresUrl").replace("@/postgres?", `@/${database}?`);
}

function hashOf(folder: string): string {
  const hash = createHash("sha256").update(folder);
  for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 16);
}

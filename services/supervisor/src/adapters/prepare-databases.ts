import pg from "pg";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";

/** A database, and the role of the same name as which its service logs in; no other role can connect to it. */
export interface ServiceDatabase {
  readonly name: string;
  readonly password: string;
  /** Roles that cannot log in, and that the service's role takes on for a transaction, to see less. */
  readonly mayBecome: readonly string[];
  /** Who owns the database and migrates it; absent where the service itself does. */
  readonly owner?: DatabaseOwner;
}

/** A role that nobody logs in as, so that the service can do in its database only what migrations grant. */
export interface DatabaseOwner {
  readonly role: string;
  /** Folder of the migrations that run as it. */
  readonly migrations: string;
}

const CONNECT_DEADLINE_MILLISECONDS = 5_000;
const STATEMENT_DEADLINE_MILLISECONDS = 30_000;

/**
 * Makes the roles and databases that are missing, gives every role its password, and migrates the databases that their
 * services may not migrate. A role can connect to its own database only.
 * @param superuserUrl of a database, as the superuser
 */
export async function prepareDatabases(
  superuserUrl: (database: string) => string,
  databases: readonly ServiceDatabase[],
  log: Log,
): Promise<void> {
  try {
    await connected(superuserUrl("postgres"), async (client) => {
      const roles = await names(client, "SELECT rolname AS name FROM pg_roles");
      const existing = await names(client, "SELECT datname AS name FROM pg_database");
      for (const database of databases) await prepareDatabase(client, database, roles, existing);
      const closed = ["postgres", "template1"].map((name) => client.escapeIdentifier(name));
      await client.query(closed.map((name) => `REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`).join("; "));
    });
    for (const { name, owner } of databases) {
      if (owner === undefined) continue;
      await connected(superuserUrl(name), (client) => handOver(client, name, owner.role));
      await migrateAs(owner, superuserUrl(name), log);
    }
  } catch (cause) {
    throw new HlvmError({
      code: "unavailable",
      reason: "databases_not_prepared",
      message: `The databases could not be prepared: ${(cause as Error).message}.`,
      cause,
    });
  }
}

async function prepareDatabase(client: pg.Client, database: ServiceDatabase, roles: Set<string>, existing: Set<string>): Promise<void> {
  const { name, password, mayBecome, owner } = database;
  const role = client.escapeIdentifier(name);
  await client.query(`${roles.has(name) ? "ALTER" : "CREATE"} ROLE ${role} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
  for (const other of owner === undefined ? mayBecome : [...mayBecome, owner.role])
    if (!roles.has(other)) await client.query(`CREATE ROLE ${client.escapeIdentifier(other)} NOLOGIN`);
  for (const other of mayBecome) await client.query(`GRANT ${client.escapeIdentifier(other)} TO ${role}`);
  if (!existing.has(name)) await client.query(`CREATE DATABASE ${role} OWNER ${client.escapeIdentifier(owner?.role ?? name)}`);
  // Temporary tables too are only for who owns the database.
  await client.query(`REVOKE ALL ON DATABASE ${role} FROM PUBLIC`);
}

/** The database, and everything that the service made in it while it still owned it, goes to the owner. */
async function handOver(client: pg.Client, name: string, owner: string): Promise<void> {
  const [from, to] = [client.escapeIdentifier(name), client.escapeIdentifier(owner)];
  await client.query(`REASSIGN OWNED BY ${from} TO ${to}; GRANT CONNECT ON DATABASE ${from} TO ${from}`);
}

async function migrateAs({ role, migrations }: DatabaseOwner, superuserUrl: string, log: Log): Promise<void> {
  const database = new Database(`${superuserUrl}&options=${encodeURIComponent(`-c role=${role}`)}`, log);
  try {
    await migrate(database, migrations);
  } finally {
    await database.close();
  }
}

async function connected(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_DEADLINE_MILLISECONDS,
    query_timeout: STATEMENT_DEADLINE_MILLISECONDS,
  });
  // What is wrong with the connection is told by the statement that needed it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function names(client: pg.Client, sql: string): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(sql);
  return new Set(rows.map((row) => row.name));
}

import pg from "pg";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** A role and the database of the same name that it alone can use. */
export interface DatabaseOwner {
  readonly name: string;
  readonly password: string;
  /** Roles that cannot log in and that it takes on for a transaction, to see less. */
  readonly mayBecome: readonly string[];
}

const CONNECT_DEADLINE_MILLISECONDS = 5_000;
const STATEMENT_DEADLINE_MILLISECONDS = 30_000;

/** Makes the roles and databases that are missing, and gives every role its password. A role can connect to its own database only. */
export async function prepareDatabases(superuserUrl: string, owners: readonly DatabaseOwner[]): Promise<void> {
  const client = new pg.Client({
    connectionString: superuserUrl,
    connectionTimeoutMillis: CONNECT_DEADLINE_MILLISECONDS,
    query_timeout: STATEMENT_DEADLINE_MILLISECONDS,
  });
  // What is wrong with the connection is told by the statement that needed it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const roles = await names(client, "SELECT rolname AS name FROM pg_roles");
    const databases = await names(client, "SELECT datname AS name FROM pg_database");
    for (const { name, password, mayBecome } of owners) {
      const role = client.escapeIdentifier(name);
      const verb = roles.has(name) ? "ALTER" : "CREATE";
      await client.query(`${verb} ROLE ${role} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
      for (const other of mayBecome) {
        const lesser = client.escapeIdentifier(other);
        if (!roles.has(other)) await client.query(`CREATE ROLE ${lesser} NOLOGIN`);
        await client.query(`GRANT ${lesser} TO ${role}`);
      }
      if (!databases.has(name)) await client.query(`CREATE DATABASE ${role} OWNER ${role}`);
    }
    const closed = ["postgres", "template1", ...owners.map(({ name }) => name)];
    await client.query(closed.map((name) => `REVOKE CONNECT ON DATABASE ${client.escapeIdentifier(name)} FROM PUBLIC`).join("; "));
  } catch (cause) {
    throw new HlvmError({
      code: "unavailable",
      reason: "databases_not_prepared",
      message: `The databases could not be prepared: ${(cause as Error).message}.`,
      cause,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function names(client: pg.Client, sql: string): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(sql);
  return new Set(rows.map((row) => row.name));
}

import pg from "pg";

/**
 * Whether PostgreSQL takes a new connection and answers on it. A server that refuses the connection has answered: it has
 * too many, or recovers from a crash, and ending it would help neither.
 * @throws Error it has not answered by the deadline, or is not there
 */
export async function checkPostgres(url: string, deadlineMilliseconds: number): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: deadlineMilliseconds,
    query_timeout: deadlineMilliseconds,
  });
  // What is wrong with the connection is told by the statement that needed it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError)) throw cause;
  } finally {
    // A server that hangs does not say goodbye, and nobody has to wait for it.
    void client.end().catch(() => undefined);
  }
}

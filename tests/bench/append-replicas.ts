import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "@hlvm/embedded-postgres/start-postgres";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { Notifications } from "@hlvm/postgres/notifications";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { PostgresEventLog } from "@hlvm/service-orchestrator/src/adapters/postgres/postgres-event-log.ts";
import { PostgresSessionStore } from "@hlvm/service-orchestrator/src/adapters/postgres/postgres-session-store.ts";
import { PostgresWakeups } from "@hlvm/service-orchestrator/src/adapters/postgres/postgres-wakeups.ts";
import { testLog } from "@hlvm/testing/test-log";

const MIGRATIONS = fileURLToPath(new URL("../../services/orchestrator/migrations", import.meta.url));
const NOTIFY_INSIDE = `
  CREATE FUNCTION notify_inside() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('session_event', NEW.session_id::text);
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER notify_inside AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION notify_inside()`;

/** An orchestrator as far as the log is concerned, with its own connections. */
export interface AppendReplica {
  readonly store: PostgresSessionStore;
  readonly log: PostgresEventLog;
  readonly wakeups: PostgresWakeups;
}

export interface AppendReplicas {
  readonly replicas: readonly AppendReplica[];
  readonly stop: () => Promise<void>;
}

/**
 * Replicas on one PostgreSQL that keeps what it commits, as in use.
 * @param notifies who notifies: `inside` every transaction that appends, or each replica `apart` from them
 */
export async function startAppendReplicas(count: number, notifies: "inside" | "apart"): Promise<AppendReplicas> {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-bench-"));
  const postgres = await startPostgres({
    directory: join(directory, "postgres"),
    socketDirectory: join(directory, "socket"),
    logFile: join(directory, "postgres.log"),
    durable: true,
  });
  const url = postgres.url("postgres");
  const databases = Array.from({ length: count }, () => new Database(url, testLog));
  await migrate(databases[0]!, MIGRATIONS);
  if (notifies === "inside") await databases[0]!.query(NOTIFY_INSIDE);
  const listening = await Promise.all(databases.map(() => Notifications.open(url, "session_event", testLog)));
  const replicas = databases.map((database, index) => {
    const wakeups = new PostgresWakeups(listening[index]!, testLog);
    const onAppend = (sessionId: string, events: readonly Event[]): void => {
      if (notifies === "apart") wakeups.appended(sessionId, events);
    };
    return { wakeups, log: new PostgresEventLog(database, onAppend), store: new PostgresSessionStore(database, randomUUID(), onAppend) };
  });
  return {
    replicas,
    stop: async () => {
      await Promise.all(replicas.map(({ wakeups }) => wakeups.close()));
      await Promise.all(listening.map((one) => one.close()));
      await Promise.all(databases.map((database) => database.close()));
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

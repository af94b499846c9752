import { fileURLToPath } from "node:url";
import type { Log } from "@hlvm/log/create-log";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { Notifications } from "@hlvm/postgres/notifications";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { MeshTeams } from "./adapters/mesh/mesh-teams.ts";
import { PostgresAttachedFiles } from "./adapters/postgres/postgres-attached-files.ts";
import { PostgresBudgetStore } from "./adapters/postgres/postgres-budget-store.ts";
import { PostgresDoorCalls } from "./adapters/postgres/postgres-door-calls.ts";
import { PostgresEventLog } from "./adapters/postgres/postgres-event-log.ts";
import { PostgresGrantStore } from "./adapters/postgres/postgres-grant-store.ts";
import { PostgresMemoryWork } from "./adapters/postgres/postgres-memory-work.ts";
import { PostgresRunClaims } from "./adapters/postgres/postgres-run-claims.ts";
import { PostgresRunMessages } from "./adapters/postgres/postgres-run-messages.ts";
import { PostgresRunQueue } from "./adapters/postgres/postgres-run-queue.ts";
import { PostgresSessionStore } from "./adapters/postgres/postgres-session-store.ts";
import { PostgresUnreconciledRuns } from "./adapters/postgres/postgres-unreconciled-runs.ts";
import { PostgresUsageLog } from "./adapters/postgres/postgres-usage-log.ts";
import { PostgresWakeups } from "./adapters/postgres/postgres-wakeups.ts";
import type { Config } from "./config.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export type Stores = Awaited<ReturnType<typeof openStores>>;

export interface StoreParts {
  readonly config: Config;
  readonly log: Log;
  /** Of this process, by which it holds runs. */
  readonly replicaId: string;
  readonly teams: MeshTeams;
}

/** What the orchestrator keeps in PostgreSQL, and what other processes tell through it. */
export async function openStores({ config, log, replicaId, teams }: StoreParts) {
  const database = new Database(config.databaseUrl, log);
  await migrate(database, MIGRATIONS);
  const grown = await Notifications.open(config.databaseUrl, "session_event", log);
  const cancelled = await Notifications.open(config.databaseUrl, "run_cancel", log);
  const sent = await Notifications.open(config.databaseUrl, "run_message", log);
  const wakeups = new PostgresWakeups(grown, log);
  const onAppend = (sessionId: string, events: readonly Event[]): void => wakeups.appended(sessionId, events);
  return {
    database,
    /** Told with the id of a run that is to be cancelled. */
    cancelled,
    /** Told with the id of a run that a message was sent to. */
    sent,
    wakeups,
    sessions: new PostgresSessionStore(database, replicaId, onAppend, teams),
    eventLog: new PostgresEventLog(database, onAppend),
    attached: new PostgresAttachedFiles(database),
    claims: new PostgresRunClaims(database, replicaId),
    queue: new PostgresRunQueue(database, replicaId),
    messages: new PostgresRunMessages(database),
    unreconciled: new PostgresUnreconciledRuns(database),
    budgets: new PostgresBudgetStore(database),
    usage: new PostgresUsageLog(database),
    grants: new PostgresGrantStore(database),
    doorCalls: new PostgresDoorCalls(database),
    memoryWork: new PostgresMemoryWork(database, replicaId),
    close: async (): Promise<void> => {
      await wakeups.close();
      await Promise.all([grown.close(), cancelled.close(), sent.close()]);
      await database.close();
    },
  };
}

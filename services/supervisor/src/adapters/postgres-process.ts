import { startPostgres } from "@hlvm/embedded-postgres/start-postgres";
import type { Log } from "@hlvm/log/create-log";
import type { ManagedProcess } from "../domain/managed-process.ts";
import { checkPostgres } from "./check-postgres.ts";
import { rotateLog } from "./log-file.ts";
import { prepareDatabases, type ServiceDatabase } from "./prepare-databases.ts";

export const POSTGRES = "PostgreSQL";

export interface PostgresPlace {
  readonly directory: string;
  readonly socketDirectory: string;
  readonly logFile: string;
}

/** PostgreSQL with the services' databases; it is up when they can be used. */
export function postgresProcess(place: PostgresPlace, databases: readonly ServiceDatabase[], log: Log): ManagedProcess {
  return {
    name: POSTGRES,
    logFile: place.logFile,
    needs: [],
    layer: "store",
    start: async (signal) => {
      rotateLog(place.logFile);
      const postgres = await startPostgres({ ...place, durable: true, signal });
      try {
        await prepareDatabases(postgres.url, databases, log);
      } catch (cause) {
        await postgres.stop();
        throw cause;
      }
      const check = (deadlineMilliseconds: number): Promise<void> => checkPostgres(postgres.url("postgres"), deadlineMilliseconds);
      return { pid: postgres.pid, check, ended: postgres.exited.then(() => "its log says why"), stop: postgres.stop };
    },
  };
}

/** How a service reaches its own database. The same for every start, so that services can be told before it is up. */
export function databaseUrl(place: PostgresPlace, { name, password }: ServiceDatabase): string {
  return `postgresql://${name}:${password}@/${name}?host=${encodeURIComponent(place.socketDirectory)}&port=5432`;
}

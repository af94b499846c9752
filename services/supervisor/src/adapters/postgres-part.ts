import { startPostgres } from "@hlvm/embedded-postgres/start-postgres";
import type { Part } from "../domain/part.ts";
import { prepareDatabases, type DatabaseOwner } from "./prepare-databases.ts";
import { rotateLog } from "./log-file.ts";

export const POSTGRES = "PostgreSQL";

export interface PostgresPlace {
  readonly directory: string;
  readonly socketDirectory: string;
  readonly logFile: string;
}

/** PostgreSQL with a database for each owner; it is up when they can be used. */
export function postgresPart(place: PostgresPlace, owners: readonly DatabaseOwner[]): Part {
  return {
    name: POSTGRES,
    logFile: place.logFile,
    needs: [],
    layer: "store",
    start: async (signal) => {
      rotateLog(place.logFile);
      const postgres = await startPostgres({ ...place, durable: true, signal });
      try {
        await prepareDatabases(postgres.url("postgres"), owners);
      } catch (cause) {
        await postgres.stop();
        throw cause;
      }
      return { pid: postgres.pid, ended: postgres.exited.then(() => "its log says why"), stop: postgres.stop };
    },
  };
}

/** How an owner reaches its own database. The same for every start, so that services can be told before it is up. */
export function databaseUrl(place: PostgresPlace, owner: DatabaseOwner): string {
  return `postgresql://${owner.name}:${owner.password}@/${owner.name}?host=${encodeURIComponent(place.socketDirectory)}&port=5432`;
}

import { startMeilisearch } from "@hlvm/meilisearch-binary/start-meilisearch";
import type { ManagedProcess } from "../domain/managed-process.ts";
import { rotateLog } from "./log-file.ts";

export interface MeilisearchPlace {
  readonly directory: string;
  readonly logFile: string;
  readonly port: number;
}

/** The search server. The mesh can do without: memory then searches in PostgreSQL. */
export function meilisearchProcess(place: MeilisearchPlace, masterKey: string): ManagedProcess {
  return {
    name: "Meilisearch",
    logFile: place.logFile,
    needs: [],
    layer: "store",
    without: "The mesh is up without it: memory searches in PostgreSQL, less well.",
    start: async (signal) => {
      rotateLog(place.logFile);
      const meilisearch = await startMeilisearch({ ...place, masterKey, signal });
      return {
        pid: meilisearch.pid,
        port: place.port,
        check: (deadlineMilliseconds) => checkHealth(meilisearch.url, deadlineMilliseconds),
        ended: meilisearch.exited.then(() => "its log says why"),
        stop: meilisearch.stop,
      };
    },
  };
}

async function checkHealth(url: string, deadlineMilliseconds: number): Promise<void> {
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(deadlineMilliseconds) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`Meilisearch answers ${response.status} when it is asked for its health.`);
}

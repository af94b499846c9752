import type { EventLog } from "../log/event-log.ts";
import { retryWhileAway } from "../loop/retry-while-away.ts";
import type { AttachedFiles } from "../session/attached-files.ts";

type Reads = "readContext" | "readRecorded" | "readResult";

/** What a run reads of sessions. */
export interface RunReads {
  readonly log: Pick<EventLog, Reads>;
  readonly attached: AttachedFiles;
}

/**
 * The same reads, made again while the database is away: it may go in the moment in which a run begins or is taken over.
 * @param milliseconds how long to wait for it
 */
export function retryReads({ log, attached }: RunReads, milliseconds: number, signal: AbortSignal): RunReads {
  const retry = <Read>(read: () => Promise<Read>): Promise<Read> => retryWhileAway(read, milliseconds, signal);
  return {
    log: {
      readContext: (sessionId) => retry(() => log.readContext(sessionId)),
      readRecorded: (sessionId) => retry(() => log.readRecorded(sessionId)),
      readResult: (sessionId, sequence) => retry(() => log.readResult(sessionId, sequence)),
    },
    attached: {
      read: (sessionId, hashes) => retry(() => attached.read(sessionId, hashes)),
      size: (sessionId) => retry(() => attached.size(sessionId)),
    },
  };
}

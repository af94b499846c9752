import type { Lease } from "../log/event-log.ts";
import type { ClaimedRun } from "./run-claims.ts";

/** Runs that have begun and wait, held by nobody, until a process has room for them: whichever that is. */
export interface RunQueue {
  /** Lets go of a run that has just begun, which waits from now on; where it was claimed already, nothing happens. */
  put(lease: Lease): Promise<void>;
  /**
   * Claims runs that wait, at most 20: each person has a turn, those with the fewest runs first, and of one person the oldest.
   * @param known ids of the runs that this process holds or is beginning
   */
  claim(known: readonly string[], room: number): Promise<ClaimedRun[]>;
  /** @returns how many wait */
  count(): Promise<number>;
}

import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** A run that is over, and of whose calls the audit log may lack outcomes. */
export interface UnreconciledRun {
  readonly sessionId: string;
  /** By which the sandbox and the audit log know its calls. */
  readonly workspaceSessionId: string;
  readonly runId: string;
  /** By what right the outcomes are recorded. Absent where the run began before runs had one. */
  readonly delegation?: string;
  /** How often it was seen to before. */
  readonly attempts: number;
}

export interface UnreconciledRuns {
  /** Those that are due, at most 20. Each is due again later, unless it is done by then: longer each time, five minutes at most. */
  claim(): Promise<UnreconciledRun[]>;
  /** What the run's model said and what its tools ended with. */
  events(run: UnreconciledRun): Promise<Event[]>;
  /** Nothing is missing any more. */
  done(run: UnreconciledRun): Promise<void>;
  /** Gives up those that have been over for longer than their delegation counts. @returns how many */
  giveUp(): Promise<number>;
}

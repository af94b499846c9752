import type { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { Principal } from "@hlvm/identity/principal";
import type { SessionRight } from "../sharing/session-grant.ts";
import type { Lease } from "../log/event-log.ts";
import type { EventPayload } from "../log/event-payload.ts";
import type { AttachedFile } from "./attached-files.ts";
import type { Session, SessionFacts } from "./session.ts";

export interface NewRun {
  readonly organization: string;
  /** Who started it. */
  readonly principal: string;
  /** As the edge signed it; kept while the run goes on, for whoever holds it. */
  readonly delegation: string;
  /** Facts where the session is new. */
  readonly session: { readonly isNew: boolean; readonly facts: SessionFacts };
  readonly lease: Lease;
  readonly model: string;
  /** The run's first events, of turn 0. */
  readonly events: readonly EventPayload[];
  /** What the run may use, where it has a budget of its own. */
  readonly budget?: RunBudget;
  /** Images and documents that they name. */
  readonly files: readonly AttachedFile[];
}

export interface SessionOwner {
  readonly organization: string;
  /** `user:NAME`. */
  readonly id: string;
}

/** Where a session stands among those of its owner. */
export interface SessionPlace {
  /** ISO 8601, to the microsecond. */
  readonly updatedAt: string;
  readonly sessionId: string;
}

/** Which sessions are wanted: all that are given hold. */
export interface SessionFilter {
  /** Words, or their beginnings, in lower case. */
  readonly words: readonly string[];
  readonly archived: "without" | "only" | "with";
  /** Empty: any. */
  readonly workspace: string;
  /** Empty: any. */
  readonly model: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly state?: "new" | "running" | "ended";
  readonly lastStopReason?: StopReason;
  /** Those of workers too. */
  readonly withWorkers: boolean;
  /** Only the workers of this session, and theirs; empty: any. */
  readonly workersOf: string;
  /** Only one's own, or only those of others; undefined: both. */
  readonly isOwn?: boolean;
}

export interface FoundSession extends Session {
  /** Where words were searched for: the first message that has them. */
  readonly found?: string;
}

export interface SessionChanges {
  readonly title?: string;
  readonly archived?: boolean;
}

export interface SessionPage {
  readonly sessions: readonly FoundSession[];
  /** Of the last one, where there are more behind it. */
  readonly end?: SessionPlace;
}

/** An event of a session that did not happen in it. */
export interface CopiedEvent {
  readonly runId: string;
  readonly turn: number;
  readonly at: Date;
  readonly payload: EventPayload;
}

export interface Fork {
  readonly parentId: string;
  /** The last event that is copied. */
  readonly at: number;
  readonly forkId: string;
  /** Who forks it. */
  readonly owner: string;
  /** Where the fork works; undefined: where the other does. */
  readonly workspace?: string;
}

export interface QueuedAt {
  /** The run that will read it. */
  readonly runId: string;
  readonly sequence: number;
}

export interface SessionStore {
  /** Undefined where there is none of that organization. */
  find(organization: string, sessionId: string): Promise<Session | undefined>;
  /** Those of one person that are not stateless, the one changed last first; those behind a place in that order, where one is given. */
  listFor(reader: SessionOwner, filter: SessionFilter, limit: number, after?: SessionPlace): Promise<SessionPage>;
  /** Changes nothing that has to do with when it was changed last. */
  update(sessionId: string, changes: SessionChanges): Promise<void>;
  /**
   * Deletes it with its log, for good.
   * @throws HlvmError `run_in_progress`, `session_unreconciled` where the audit log still lacks something of it
   */
  delete(sessionId: string): Promise<void>;
  /** Makes a session with these events, numbered from 1, and the files that they name, or nothing. */
  createImported(organization: string, facts: SessionFacts, events: readonly CopiedEvent[], files: readonly AttachedFile[]): Promise<void>;
  /** The right that grants give somebody to a session of their organization; undefined where none. */
  rightTo(sessionId: string, principal: Principal): Promise<SessionRight | undefined>;
  /** Appends an event that is no run's, also while one goes on. @returns its sequence; undefined where the session is gone */
  appendBesideRuns(sessionId: string, principal: string, event: CopiedEvent): Promise<number | undefined>;
  /** Appends an event that is no run's. @returns false where a run goes on, or the session is gone */
  appendOutsideRuns(sessionId: string, principal: string, event: CopiedEvent): Promise<boolean>;
  /** Makes a session with a copy of another one's events and the marker behind them. @returns false where there are none such */
  fork(fork: Fork, marker: CopiedEvent): Promise<boolean>;
  /**
   * Makes the session where it is new, the run and its first events, or nothing.
   * @returns the sequence of the first event
   * @throws HlvmError `run_in_progress`, `session_not_found`
   */
  beginRun(run: NewRun): Promise<number>;
  /** Writes a message for the run that is going on into its log. @returns undefined where no run takes one */
  queueMessage(sessionId: string, principal: string, message: EventPayload, files: readonly AttachedFile[]): Promise<QueuedAt | undefined>;
  /** @returns false where the run has ended; undefined where there is none of that organization and session */
  requestCancel(organization: string, sessionId: string, runId: string): Promise<boolean | undefined>;
  /** Cancels workers whose parent has ended without them. */
  cancelOrphans(): Promise<void>;
  /** Deletes stateless sessions whose run ended that long ago, and of which the audit log lacks nothing. */
  deleteStateless(afterSeconds: number): Promise<void>;
}

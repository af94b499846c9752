import type { Lease } from "../log/event-log.ts";
import type { EventPayload } from "../log/event-payload.ts";
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
}

/** Where a session stands among those of its owner. */
export interface SessionPlace {
  /** ISO 8601, to the microsecond. */
  readonly updatedAt: string;
  readonly sessionId: string;
}

export interface SessionPage {
  readonly sessions: readonly Session[];
  /** Of the last one, where there are more behind it. */
  readonly end?: SessionPlace;
}

export interface SessionStore {
  /** Undefined where there is none of that organization. */
  find(organization: string, sessionId: string): Promise<Session | undefined>;
  /** Those that are not stateless, the one changed last first; those behind a place in that order, where one is given. */
  listOwned(organization: string, owner: string, limit: number, after?: SessionPlace): Promise<SessionPage>;
  /**
   * Makes the session where it is new, the run and its first events, or nothing.
   * @returns the sequence of the first event
   * @throws HlvmError `run_in_progress`, `session_not_found`
   */
  beginRun(run: NewRun): Promise<number>;
  /** @returns false where the run has ended; undefined where there is none of that organization and session */
  requestCancel(organization: string, sessionId: string, runId: string): Promise<boolean | undefined>;
  /** Deletes stateless sessions whose run ended that long ago, and of which the audit log lacks nothing. */
  deleteStateless(afterSeconds: number): Promise<void>;
}

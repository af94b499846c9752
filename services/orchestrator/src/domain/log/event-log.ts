import type { Event, StopReason, ToolEnd } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SettledCall } from "../budget/budget-store.ts";
import type { EventPayload } from "./event-payload.ts";

/** The right to append a run's events: renewed while the run lives, lost to whoever claims the run next. */
export interface Lease {
  readonly sessionId: string;
  readonly runId: string;
  /** UUID of this claim. */
  readonly owner: string;
}

export interface NewEvent {
  /** The model call within the run, from 1; 0 before the first. */
  readonly turn: number;
  readonly payload: EventPayload;
}

export interface Append {
  readonly lease: Lease;
  /** `user:NAME`. */
  readonly principal: string;
  /** How many events the run has appended before; others may append to the session meanwhile. */
  readonly position: number;
  readonly events: readonly NewEvent[];
  /** Set: the run ends with these events. */
  readonly stopReason?: StopReason;
  /** Of a run that ends: the audit log may lack outcomes of its calls, which whoever reconciles it adds. */
  readonly isUnreconciled?: boolean;
  /** Model calls that ended before these events: they count and are on record once, with the append. */
  readonly settled?: readonly SettledCall[];
  /** Of the run's person: whose budgets those calls count against. */
  readonly teams?: readonly string[];
}

export interface LogPage {
  readonly events: readonly Event[];
  /** Whether there was more at the time; else the log ended here. */
  readonly hasMore: boolean;
}

/** Which page of a log is read backwards. */
export interface PageBefore {
  /** Events before this sequence; 0: the last ones. */
  readonly before: number;
  readonly limit: number;
  /** Without pieces of an answer, of thinking and of output that a later event has whole. */
  readonly settled: boolean;
}

/** A session's append-only log. */
export interface EventLog {
  /**
   * Appends all or nothing, once: given again after a failure that left it open, it finds what is there already.
   * @throws HlvmError `lease_lost` where somebody else holds the run now, `database_unreachable`, `write_conflict`
   */
  append(append: Append): Promise<void>;
  /**
   * Appends of several runs, none of them its last, in one statement: each all or nothing, and no one because of another.
   * @returns for each whether it was appended; where it was not, or this throws, `append` does it or tells why not
   */
  appendEach(appends: readonly Append[]): Promise<readonly boolean[]>;
  /** Events from a sequence on, in order: as many as fit about a megabyte, at least one where there is one. */
  read(sessionId: string, from: number): Promise<LogPage>;
  /** Events before a sequence, in order: as many as the limit says and fit about a megabyte; `hasMore` tells of earlier ones. */
  readBefore(sessionId: string, page: PageBefore): Promise<LogPage>;
  /** Those events from which the model's context is folded: after a compaction what it left, and all since, without what was undone. */
  readContext(sessionId: string): Promise<Event[]>;
  /** Every word in a session's log that something was undone, in order. */
  readUndone(sessionId: string): Promise<Event[]>;
  /** Those events of one run that say how far it came. */
  readRun(sessionId: string, runId: string): Promise<Event[]>;
  /** The end of a tool's call; undefined where that event is none, was undone, or is not of that session. */
  readResult(sessionId: string, sequence: number): Promise<ToolEnd | undefined>;
  /** What a call came to; undefined where it has no end yet, or is not of that session. */
  readOutput(sessionId: string, callId: string): Promise<ToolEnd | undefined>;
  /** Those events of the whole session from which the conversation is folded, without what was undone. */
  readConversation(sessionId: string): Promise<Event[]>;
  /** All events but pieces of what a later one has whole, without what was undone: from them every turn's context can be folded. */
  readRecorded(sessionId: string): Promise<Event[]>;
}

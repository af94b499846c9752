import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** Tells when a session's log may have grown. */
export interface LogWakeups {
  subscribe(sessionId: string): LogSubscription;
}

export interface LogSubscription {
  /** Resolves when the log may have grown since the last call, and at the latest after the given time; rejects when aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** What this process has just appended, without gaps, if it goes on from that sequence; else the log has to be read. */
  take(from: number): readonly Event[] | undefined;
  close(): void;
}

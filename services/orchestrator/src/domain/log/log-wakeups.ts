/** Tells when a session's log may have grown. */
export interface LogWakeups {
  subscribe(sessionId: string): LogSubscription;
}

export interface LogSubscription {
  /** Resolves when the log may have grown since the last call, and at the latest after the given time; rejects when aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** When a process that ended, or could not be started, is started again: exponential back-off, for ever. */
export interface RestartPolicy {
  /** Before the first attempt; doubled with every further one. */
  readonly firstPauseMilliseconds: number;
  readonly maximumPauseMilliseconds: number;
  /** A process that was up for this long begins with the first pause again. */
  readonly resetAfterMilliseconds: number;
}

/**
 * A crash is mended before most callers notice, and a process that cannot run costs two starts a minute: the longest pause
 * is what a person who has just removed the cause has to wait. What keeps a process from running shows within seconds of its
 * start; one that was up for 10 s worked, and whatever ended it costs its callers no more than the first pause.
 */
export const RESTART_POLICY: RestartPolicy = {
  firstPauseMilliseconds: 200,
  maximumPauseMilliseconds: 30_000,
  resetAfterMilliseconds: 10_000,
};

/** @param failures attempts and lives that were too short, since the process was last up for long */
export function restartPause({ firstPauseMilliseconds, maximumPauseMilliseconds }: RestartPolicy, failures: number): number {
  return Math.min(firstPauseMilliseconds * 2 ** failures, maximumPauseMilliseconds);
}

/** @returns the failures that count after a life of this length */
export function failuresAfter({ resetAfterMilliseconds }: RestartPolicy, failures: number, upMilliseconds: number): number {
  return upMilliseconds >= resetAfterMilliseconds ? 0 : failures;
}

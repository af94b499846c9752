import { setTimeout as sleep } from "node:timers/promises";
import type { RunningProcess } from "./managed-process.ts";

/** How a process that hangs is told from one that is busy. */
export interface HealthPolicy {
  /** Between an answer, or its deadline, and the next question. */
  readonly intervalMilliseconds: number;
  readonly deadlineMilliseconds: number;
  /** So many questions in a row without an answer, and it is restarted. */
  readonly maximumMisses: number;
}

/**
 * A process is restarted when it has been silent for 25 to 30 s. The mesh's own connections cut a peer that has not answered
 * for 20 s (a ping after 15 s, 5 s to answer it): whoever waited for the process has lost their call by then. What is busy
 * for a few seconds misses one question.
 */
export const HEALTH_POLICY: HealthPolicy = { intervalMilliseconds: 5_000, deadlineMilliseconds: 5_000, maximumMisses: 3 };

/** A wait that took more than so many times as long was not only waited: this process, or the machine, stood still. */
const STANDSTILL_FACTOR = 2;

/**
 * Asks a running process for its health until the signal is aborted, or it has been silent for too long. Where the machine
 * slept, or this process was stopped, what was missed says nothing of the process, and counting begins anew.
 * @param onChange with when the first question was asked that it has not answered, or undefined when it answers again
 * @returns since when it is silent; undefined where the signal was aborted
 */
export async function watchHealth(
  check: RunningProcess["check"],
  policy: HealthPolicy,
  onChange: (silentSince: Date | undefined) => void,
  signal: AbortSignal,
): Promise<Date | undefined> {
  const { intervalMilliseconds, deadlineMilliseconds, maximumMisses } = policy;
  let misses = 0;
  let silentSince: Date | undefined;
  while (misses < maximumMisses) {
    const waited = stopwatch();
    await sleep(intervalMilliseconds, undefined, { signal }).catch(() => undefined);
    if (waited() > STANDSTILL_FACTOR * intervalMilliseconds) misses = 0;
    const askedAt = new Date();
    const asked = stopwatch();
    const isAnswered = !signal.aborted && (await answers(check, deadlineMilliseconds, signal));
    if (signal.aborted) return undefined;
    if (isAnswered) {
      misses = 0;
      if (silentSince !== undefined) onChange((silentSince = undefined));
    } else if (asked() > STANDSTILL_FACTOR * deadlineMilliseconds) {
      misses = 0;
    } else {
      misses++;
      if (silentSince === undefined) onChange((silentSince = askedAt));
    }
  }
  return silentSince;
}

/** Resolves at the deadline, or when the signal is aborted, whatever the check does. */
async function answers(check: RunningProcess["check"], deadlineMilliseconds: number, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const limit = sleep(deadlineMilliseconds, false, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => false);
  const answer = check(deadlineMilliseconds).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, limit]);
  } finally {
    over.abort();
  }
}

/** Milliseconds from now on, with those that the machine slept: only the clock of the day counts them. */
function stopwatch(): () => number {
  const [steady, day] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - steady, Date.now() - day);
}

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const DEADLINE_MILLISECONDS = 10_000;
const POLL_MILLISECONDS = 10;

/** Whether a process runs; one that has ended and was not waited for yet does not. */
export function isRunning(pid: number): boolean {
  try {
    const [, state] = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return state !== "Z";
  } catch {
    return false;
  }
}

/** For processes that are not this one's children, so that no event tells their end. */
export async function processesEnded(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + DEADLINE_MILLISECONDS;
  while (pids.some(isRunning)) {
    if (Date.now() > deadline) throw new Error(`still running: ${pids.filter(isRunning).join(", ")}`);
    await sleep(POLL_MILLISECONDS);
  }
}

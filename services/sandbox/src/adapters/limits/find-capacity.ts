import { availableParallelism } from "node:os";

const MEBIBYTE = 1_024 * 1_024;
/**
 * Of a session in use: a runner that has done something (25 MiB, proportional set size), two sandboxes that stand by, and
 * as much again for a small command. `npm run bench -- sandboxes` prints the first two.
 */
const SESSION_MEBIBYTES = 64;
/** The other half is for commands that need more, up to their own limit, and for what else runs on the machine. */
const MEMORY_SHARE = 0.5;
/** A sandbox takes 8 ms of a processor to make: where so many are made at once, the last is there after a quarter second. */
const SESSIONS_PER_PROCESSOR = 32;
const LEAST_SESSIONS = 4;
/** As many as can be open. */
const MOST_SESSIONS = 1_000;

export interface Capacity {
  /** Whose sandboxes may be up at the same time. */
  readonly sessions: number;
  /** For people: the number, and what it was found from. */
  readonly detail: string;
}

interface Machine {
  /** Within the limit of this process's control group, where it has one. */
  readonly availableBytes: number;
  readonly processors: number;
}

/**
 * How many sessions may have sandboxes up at a time.
 * @param setting 0: as many as memory and processors hold
 * @param replicas of the service on this machine, which share it
 */
export function findCapacity(setting: number, replicas: number, machine = thisMachine()): Capacity {
  if (setting > 0) return { sessions: setting, detail: `${setting}, as HLVM_SANDBOX_SESSIONS says` };
  const mebibytes = Math.floor(machine.availableBytes / MEBIBYTE);
  const byMemory = Math.floor((mebibytes * MEMORY_SHARE) / SESSION_MEBIBYTES);
  const byProcessors = machine.processors * SESSIONS_PER_PROCESSOR;
  const share = Math.floor(Math.min(byMemory, byProcessors) / replicas);
  const sessions = Math.min(MOST_SESSIONS, Math.max(LEAST_SESSIONS, share));
  const shared = replicas > 1 ? `, which ${replicas} replicas share` : "";
  const found = `${mebibytes} MiB of memory available at start hold ${byMemory}, ${machine.processors} processors ${byProcessors}${shared}`;
  return { sessions, detail: `${sessions}: ${found}; HLVM_SANDBOX_SESSIONS sets another number` };
}

function thisMachine(): Machine {
  return { availableBytes: process.availableMemory(), processors: availableParallelism() };
}

import type { Priority } from "./fair-queue.ts";

/** How much more than the mean a server may have before requests leave their cache behind. */
const MOST_OF_MEAN = 1.2;
/**
 * A server on which somebody was within this time is left to them: the next turn comes when their tool has run. One that reads a
 * batch prompt then makes it wait: a server notices that a request is gone between two pieces of its prompt.
 */
const QUIET_MILLISECONDS = 2_000;

/** A server that could take a request, as it is now. */
export interface Candidate {
  /** What this gateway may use of it. */
  readonly slots: number;
  readonly inFlight: number;
  readonly batchInFlight: number;
  /** Since an interactive request was at work there last; 0 while one is. */
  readonly quietMilliseconds: number;
  /** Characters of the prompt, from its beginning, that it has in its cache. */
  readonly matched: number;
  /** What it did lately, in milliseconds of its slots. */
  readonly recentWork: number;
  /** Until one of its slots is free, as far as can be told; 0 where one is. */
  readonly waitMilliseconds: number;
  /** What reading a prompt takes. */
  readonly millisecondsPerCharacter: number;
}

export interface Placing {
  readonly priority: Priority;
  /** How long it has waited. */
  readonly waitedMilliseconds: number;
  /** Its turn has come before the interactive ones, which is all that a slot is kept free for. */
  readonly isDue: boolean;
}

/**
 * The server that a request goes to now; undefined where it has to wait, or had better.
 *
 * First comes the server that has most of its prompt. It is passed over where it has more than 1.2 times the mean, of requests
 * and of lately done work both (one alone is chance), and where waiting for it takes longer than reading the prompt anew
 * elsewhere. Else it is the least loaded one, and of those the one that did least lately.
 */
export function placeRequest<T extends Candidate>(candidates: readonly T[], placing: Placing): T | undefined {
  const open = candidates.filter((each) => each.slots > 0);
  const free = open.filter((each) => each.inFlight < each.slots && (placing.priority === "interactive" || takesBatch(each, open, placing)));
  const elsewhere = free.toSorted(byLoad)[0];
  const home = open.filter(({ matched }) => matched > 0).toSorted((one, other) => other.matched - one.matched || byLoad(one, other))[0];
  if (home === undefined || home === elsewhere || isCrowded(home, open)) return elsewhere;
  if (free.includes(home)) return home;
  if (elsewhere === undefined || placing.priority === "batch") return elsewhere;
  const readAnew = (home.matched - elsewhere.matched) * elsewhere.millisecondsPerCharacter;
  return placing.waitedMilliseconds + home.waitMilliseconds < readAnew ? undefined : elsewhere;
}

/**
 * Batch requests leave a slot of every server that has several, and half of the servers, to whoever waits for an answer; they
 * begin nowhere where somebody is or was just now. One whose turn has come before the others' takes any slot.
 */
function takesBatch(candidate: Candidate, open: readonly Candidate[], { isDue }: Placing): boolean {
  if (isDue) return true;
  if (candidate.quietMilliseconds < QUIET_MILLISECONDS) return false;
  if (candidate.slots > 1 && candidate.inFlight + 1 >= candidate.slots) return false;
  const withBatch = open.filter(({ batchInFlight }) => batchInFlight > 0).length;
  return candidate.batchInFlight > 0 || withBatch < Math.max(1, Math.floor(open.length / 2));
}

function isCrowded(home: Candidate, open: readonly Candidate[]): boolean {
  const slots = sum(open, (each) => each.slots);
  const requests = sum(open, (each) => each.inFlight) + 1;
  const work = sum(open, (each) => each.recentWork);
  const share = (MOST_OF_MEAN * home.slots) / slots;
  return home.inFlight + 1 > Math.ceil(share * requests) && home.recentWork > share * work;
}

function byLoad(one: Candidate, other: Candidate): number {
  return one.inFlight / one.slots - other.inFlight / other.slots || one.recentWork / one.slots - other.recentWork / other.slots;
}

function sum(candidates: readonly Candidate[], of: (each: Candidate) => number): number {
  return candidates.reduce((total, each) => total + of(each), 0);
}

import type { FoldedEvent } from "./conversation.ts";

/** Messages of people to one run that stay word for word. */
const MOST_ASKED = 8;

/** Sequences of what a compaction leaves as it is; 0 where there is none. */
export class Anchors {
  /** The session's first question. */
  task = 0n;
  /** What people said to the last run. */
  asked: bigint[] = [];
  runStarted = 0n;
  memory = 0n;

  /** A message of a person: in turn 0 the question of a run that begins with it. */
  ask({ turn, sequence = 0n }: FoldedEvent): void {
    if (this.task === 0n) this.task = sequence;
    if (turn === 0) {
      this.asked = [];
      this.memory = 0n;
    }
    this.asked.push(sequence);
    // The question and what was said last; what lies between is folded with the rest.
    if (this.asked.length > MOST_ASKED) this.asked.splice(1, 1);
  }
}

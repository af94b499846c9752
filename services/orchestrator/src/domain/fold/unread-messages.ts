import { create } from "@bufbuild/protobuf";
import { UserMessageSchema, type MessageQueued, type UserMessage } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { FoldedEvent } from "./conversation.ts";

interface Unread {
  /** The one that queued it. */
  readonly event: FoldedEvent;
  readonly message: UserMessage;
}

/** Messages that were sent to a run while it went on, by their sequences, until the model has read them. */
export class UnreadMessages {
  readonly #bySequence = new Map<bigint, Unread>();

  add(event: FoldedEvent, { text, attachments }: MessageQueued): void {
    const { sequence = 0n, principal = "" } = event;
    this.#bySequence.set(sequence, { event, message: create(UserMessageSchema, { text, attachments, author: principal }) });
  }

  remove(sequence: bigint): void {
    this.#bySequence.delete(sequence);
  }

  /** Those of runs before this one, which ended without having read them: this one does. */
  takeForRun(runId: string): Unread[] {
    const left = [...this.#bySequence].filter(([, { event }]) => event.runId !== runId);
    for (const [sequence] of left) this.#bySequence.delete(sequence);
    return left.map(([, unread]) => unread);
  }
}

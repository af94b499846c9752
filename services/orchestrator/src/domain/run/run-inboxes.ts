import type { Lease } from "../log/event-log.ts";
import { RunInbox, type RunMessages } from "./run-inbox.ts";

/** The inboxes of the runs that this process holds. */
export class RunInboxes {
  readonly #messages: RunMessages;
  readonly #inboxes = new Map<string, RunInbox>();

  constructor(messages: RunMessages) {
    this.#messages = messages;
  }

  /** @param readSequences see `RunInbox` */
  open(lease: Lease, readSequences?: readonly bigint[]): RunInbox {
    const inbox: RunInbox = new RunInbox(lease, this.#messages, readSequences, () => {
      // It may have been claimed again meanwhile, and be held anew.
      if (this.#inboxes.get(lease.runId) === inbox) this.#inboxes.delete(lease.runId);
    });
    this.#inboxes.set(lease.runId, inbox);
    return inbox;
  }

  /** Somebody sent a message to the run. @returns whether this process holds it */
  wake(runId: string): boolean {
    const inbox = this.#inboxes.get(runId);
    inbox?.wake();
    return inbox !== undefined;
  }

  /** Some may have been sent of which nobody told. */
  wakeAll(): void {
    for (const inbox of this.#inboxes.values()) inbox.wake();
  }
}

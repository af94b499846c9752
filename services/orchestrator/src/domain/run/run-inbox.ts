import type { Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Lease } from "../log/event-log.ts";

/** A message that a person sent to a run while it went on. */
export interface QueuedMessage {
  /** Of its message_queued. */
  readonly sequence: bigint;
  /** `user:NAME`. */
  readonly author: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Whether the turn in hand is stopped for it. */
  readonly interrupts: boolean;
}

/** The messages of runs, as the log has them. */
export interface RunMessages {
  /** How many were sent to the run. */
  count(runId: string): Promise<number>;
  /** All of them, in order, those that it has read included. */
  read(sessionId: string, runId: string): Promise<readonly QueuedMessage[]>;
  /**
   * Lets nobody send the run a message any more.
   * @param count of the messages that the run knows
   * @returns false where there are others
   */
  close(lease: Lease, count: number): Promise<boolean>;
}

/** Where nobody told of a message, as after a cut of the notifications, it is looked for this often. */
const LOOK_MILLISECONDS = 1_000;

/**
 * What people say to one run while it goes on. What it has read is in its log, so that whoever takes the run over reads the
 * rest and nothing twice.
 */
export class RunInbox implements Disposable {
  readonly #lease: Lease;
  readonly #messages: RunMessages;
  readonly #readSequences: Set<bigint>;
  readonly #onClose: () => void;
  #unread: readonly QueuedMessage[] = [];
  #count = 0;
  #turn = new AbortController();
  #isDue: boolean;
  #lookedAt = performance.now();
  #looking: Promise<void> = Promise.resolve();

  /**
   * @param readSequences of a run that another process held: the messages that its log says were read
   * @param onClose the run is not held here any more
   */
  constructor(lease: Lease, messages: RunMessages, readSequences: readonly bigint[] | undefined, onClose: () => void) {
    this.#lease = lease;
    this.#messages = messages;
    this.#readSequences = new Set(readSequences);
    this.#onClose = onClose;
    this.#isDue = readSequences !== undefined;
    if (this.#isDue) this.wake();
  }

  /** There may be a message: it is looked for at once, since it may interrupt. */
  wake(): void {
    this.#isDue = true;
    // What cannot be read now is read before the next turn.
    this.#look().catch(() => undefined);
  }

  /** Begins a turn. @returns aborted where a message interrupts it */
  beginTurn(): AbortSignal {
    this.#turn = new AbortController();
    this.#interrupt();
    return this.#turn.signal;
  }

  /**
   * The messages that were not read yet, in order: whoever takes them gives them to the model. While the database is away there
   * are none: what is appended next tells whether the run goes on.
   */
  async take(): Promise<readonly QueuedMessage[]> {
    if (performance.now() - this.#lookedAt > LOOK_MILLISECONDS) this.#isDue = true;
    await this.#look().catch(() => undefined);
    const taken = this.#unread;
    this.#unread = [];
    for (const { sequence } of taken) this.#readSequences.add(sequence);
    return taken;
  }

  /** Whether there are messages that were not read yet, as far as that is known. */
  async hasUnread(): Promise<boolean> {
    await this.#look().catch(() => undefined);
    return this.#unread.length > 0;
  }

  /** Lets the run end, unless there is still something to read. */
  async close(): Promise<boolean> {
    if (this.#unread.length > 0) return false;
    if (await this.#messages.close(this.#lease, this.#count).catch(() => false)) return true;
    this.#isDue = true;
    // Where there is none, the run belongs to somebody else by now, as its last append will tell.
    return !(await this.hasUnread());
  }

  [Symbol.dispose](): void {
    this.#onClose();
  }

  /** One look at a time. */
  #look(): Promise<void> {
    this.#looking = this.#looking.catch(() => undefined).then(() => (this.#isDue ? this.#lookOnce() : undefined));
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    this.#isDue = false;
    this.#lookedAt = performance.now();
    try {
      const count = await this.#messages.count(this.#lease.runId);
      if (count === this.#count) return;
      const all = await this.#messages.read(this.#lease.sessionId, this.#lease.runId);
      this.#count = all.length;
      this.#unread = all.filter(({ sequence }) => !this.#readSequences.has(sequence));
    } catch (cause) {
      this.#isDue = true;
      throw cause;
    }
    this.#interrupt();
  }

  #interrupt(): void {
    if (this.#unread.some(({ interrupts }) => interrupts)) this.#turn.abort(new Error("a message interrupts the turn"));
  }
}

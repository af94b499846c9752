import type { Log } from "@hlvm/log/create-log";
import type { Notifications } from "@hlvm/postgres/notifications";

/** A transaction that notifies takes one lock of the whole server to commit: appends leave that to one statement for all. */
const GATHER_MILLISECONDS = 10;
const MAXIMUM_SESSIONS = 10_000;

/**
 * Tells the other replicas which sessions have grown: what grows within 10 ms goes in one statement, the session's id alone.
 * What cannot be sent is dropped, since everybody who follows a session looks for themselves every second. While there is no other
 * replica nothing is sent: a statement, a commit and a wake-up for each turn of a run.
 */
export class SessionNotifier {
  readonly #notifications: Pick<Notifications, "notify">;
  readonly #log: Log;
  readonly #grown = new Set<string>();
  #gathering: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isFailing = false;
  #hasOthers = true;

  constructor(notifications: Pick<Notifications, "notify">, log: Log) {
    this.#notifications = notifications;
    this.#log = log;
  }

  /** Whether there are other replicas, as far as the database knows. */
  set hasOthers(hasOthers: boolean) {
    this.#hasOthers = hasOthers;
  }

  grew(sessionId: string): void {
    if (!this.#hasOthers) return;
    if (this.#grown.size < MAXIMUM_SESSIONS) this.#grown.add(sessionId);
    this.#gathering ??= setTimeout(() => void this.flush(), GATHER_MILLISECONDS);
  }

  /** Resolves when all that grew so far has been sent. */
  async flush(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#sending = this.#sending.then(() => this.#send());
    await this.#sending;
  }

  /** The next ones are gathered while these are on their way. */
  async #send(): Promise<void> {
    this.#gathering = undefined;
    const sessionIds = [...this.#grown];
    this.#grown.clear();
    if (sessionIds.length === 0) return;
    try {
      await this.#notifications.notify(sessionIds);
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing) this.#log.warn({ err: cause }, "other replicas could not be told which sessions grew; they look every second");
      this.#isFailing = true;
    }
  }
}

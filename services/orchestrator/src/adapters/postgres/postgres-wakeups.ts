import type { Log } from "@hlvm/log/create-log";
import type { Notifications } from "@hlvm/postgres/notifications";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { LogSubscription, LogWakeups } from "../../domain/log/log-wakeups.ts";
import { SessionNotifier } from "./session-notifier.ts";

/** Events kept for a follower that is slower than the run; beyond it reads the table. */
const MAXIMUM_GIVEN = 500;

/** Wakes those who follow a session: at once for what this process appended, by a notification for what other replicas did. */
export class PostgresWakeups implements LogWakeups {
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  readonly #notifier: SessionNotifier;

  /** @param notifications on the channel `session_event`; what is sent there does not come back */
  constructor(notifications: Notifications, log: Log) {
    this.#notifier = new SessionNotifier(notifications, log);
    notifications.onPayload((sessionId) => this.wake(sessionId));
    notifications.onReconnect(() => {
      for (const sessionId of this.#subscriptions.keys()) this.wake(sessionId);
    });
  }

  /** What this process appended goes to those who follow here, without a look into the table, and other replicas are told. */
  appended(sessionId: string, events: readonly Event[]): void {
    for (const subscription of this.#subscriptions.get(sessionId) ?? []) subscription.give(events);
    this.#notifier.grew(sessionId);
  }

  /** Whether there are other replicas to tell: to be set anew every second. */
  set hasOthers(hasOthers: boolean) {
    this.#notifier.hasOthers = hasOthers;
  }

  /** Resolves when the other replicas have been told of everything. */
  close(): Promise<void> {
    return this.#notifier.flush();
  }

  wake(sessionId: string): void {
    for (const subscription of this.#subscriptions.get(sessionId) ?? []) subscription.wake();
  }

  subscribe(sessionId: string): LogSubscription {
    const together = this.#subscriptions.get(sessionId) ?? new Set();
    this.#subscriptions.set(sessionId, together);
    const subscription = new Subscription(() => {
      together.delete(subscription);
      if (together.size === 0) this.#subscriptions.delete(sessionId);
    });
    together.add(subscription);
    return subscription;
  }
}

class Subscription implements LogSubscription {
  readonly close: () => void;
  /** Set by a wake-up that came while nobody waited: it must not be lost. */
  #isDue = false;
  #waiting: (() => void) | undefined;
  /** Without gaps. */
  #given: Event[] = [];
  /** Whether the log may hold what was not given. */
  #mustRead = false;

  constructor(close: () => void) {
    this.close = close;
  }

  /** The log has grown by what others appended. */
  wake(): void {
    this.#mustRead = true;
    this.#notify();
  }

  give(events: readonly Event[]): void {
    const last = this.#given.at(-1);
    if (last !== undefined && events[0]?.sequence !== last.sequence + 1n) this.#given = [];
    if (this.#given.length + events.length > MAXIMUM_GIVEN) this.#given = [];
    else this.#given.push(...events);
    this.#notify();
  }

  take(from: number): readonly Event[] | undefined {
    const given = this.#given;
    this.#given = [];
    const first = given.findIndex(({ sequence }) => Number(sequence) === from);
    if (first === -1) {
      this.#mustRead = false;
      return undefined;
    }
    // One wake-up may have stood for both: what others appended is looked for next.
    this.#isDue ||= this.#mustRead;
    return given.slice(first);
  }

  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isDue) await this.#wakened(milliseconds, signal);
    this.#isDue = false;
    signal.throwIfAborted();
  }

  #notify(): void {
    this.#isDue = true;
    this.#waiting?.();
  }

  async #wakened(milliseconds: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, milliseconds);
      signal.addEventListener("abort", done);
      this.#waiting = done;
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
    });
    this.#waiting = undefined;
  }
}

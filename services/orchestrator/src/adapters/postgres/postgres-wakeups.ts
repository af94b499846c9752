import type { Notifications } from "@hlvm/postgres/notifications";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { LogSubscription, LogWakeups } from "../../domain/log/log-wakeups.ts";

/** Events kept for a follower that is slower than the run; beyond it reads the table. */
const MAXIMUM_GIVEN = 500;

/** Wakes those who follow a session, from one listening connection and at once for what this process appended itself. */
export class PostgresWakeups implements LogWakeups {
  readonly #subscriptions = new Map<string, Set<Subscription>>();

  /** @param isHeld whether this process runs that session: it alone appends then, and wakes without a notification */
  constructor(notifications: Notifications, isHeld: (sessionId: string) => boolean) {
    notifications.onPayload((sessionId) => {
      if (!isHeld(sessionId)) this.wake(sessionId);
    });
    notifications.onReconnect(() => {
      for (const sessionId of this.#subscriptions.keys()) this.wake(sessionId);
    });
  }

  /** What this process appended goes to those who follow, without a look into the table. */
  appended(sessionId: string, events: readonly Event[]): void {
    for (const subscription of this.#subscriptions.get(sessionId) ?? []) subscription.give(events);
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

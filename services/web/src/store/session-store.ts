import { Conversation, type RunView } from "@hlvm/conversation/conversation";
import type { Item } from "@hlvm/conversation/item";
import type { Event, TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { troubleOf, type Clients, type Trouble } from "../api/clients.ts";
import type { Frame, WatchConnection } from "../watch/watch-connection.ts";

const PAGE_EVENTS = 500;

/** A session as the page shows it; replaced as a whole, its items one by one. */
export interface SessionView {
  readonly session: Session | undefined;
  readonly items: readonly Item[];
  readonly run: RunView | undefined;
  readonly todo: readonly TodoItem[];
  readonly isRunning: boolean;
  readonly hasEarlier: boolean;
  readonly isLoaded: boolean;
  readonly trouble: Trouble | undefined;
}

/** One open session, outside of React: its last events first, those before when they are asked for, and what comes live. */
export class SessionStore {
  readonly sessionId: string;
  readonly #clients: Clients;
  readonly #watch: WatchConnection;
  readonly #listeners = new Set<() => void>();
  #conversation = new Conversation();
  #events: Event[] = [];
  #arrived: Event[] = [];
  #frame: number | undefined;
  #view: SessionView = {
    session: undefined,
    items: [],
    run: undefined,
    todo: [],
    isRunning: false,
    hasEarlier: false,
    isLoaded: false,
    trouble: undefined,
  };

  constructor(sessionId: string, clients: Clients, watch: WatchConnection) {
    this.sessionId = sessionId;
    this.#clients = clients;
    this.#watch = watch;
  }

  readonly view = (): SessionView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @returns what ends the following */
  open(): () => void {
    let isClosed = false;
    let unsubscribe = (): void => {};
    const following = async (): Promise<void> => {
      await this.load();
      if (isClosed || !this.#view.isLoaded) return;
      const { sessionId } = this;
      unsubscribe = this.#watch.subscribe(`session ${sessionId}`, {
        topic: () => ({ case: "session", value: { sessionId, fromSequence: this.#lastSequence() + 1n } }),
        onFrame: (frame) => this.#onFrame(frame),
      });
    };
    void following();
    return () => {
      isClosed = true;
      unsubscribe();
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    };
  }

  async load(): Promise<void> {
    try {
      const { sessionId } = this;
      const [{ session }, { events, hasMore }] = await Promise.all([
        this.#clients.sessions.getSession({ sessionId }),
        this.#clients.sessions.readEvents({ sessionId, limit: PAGE_EVENTS, settled: true }),
      ]);
      this.#events = events;
      this.#fold();
      this.#set({ session, hasEarlier: hasMore, isLoaded: true, trouble: undefined });
    } catch (thrown) {
      this.#set({ trouble: troubleOf(thrown) });
    }
  }

  async loadEarlier(): Promise<void> {
    const before = this.#events[0]?.sequence;
    if (before === undefined || !this.#view.hasEarlier) return;
    const { sessionId } = this;
    const { events, hasMore } = await this.#clients.sessions.readEvents({ sessionId, before, limit: PAGE_EVENTS, settled: true });
    if (this.#events[0]?.sequence !== before) return;
    this.#events = [...events, ...this.#events];
    this.#fold();
    this.#set({ hasEarlier: hasMore });
  }

  #onFrame(frame: Frame): void {
    if (frame.case !== "session") return;
    this.#arrived.push(...frame.value.events);
    this.#frame ??= requestAnimationFrame(() => this.#flush());
  }

  /** Once an animation frame, however many events have come. */
  #flush(): void {
    this.#frame = undefined;
    const last = this.#lastSequence();
    const fresh = this.#arrived.filter(({ sequence }) => sequence > last);
    this.#arrived = [];
    if (fresh.length === 0) return;
    this.#events.push(...fresh);
    this.#conversation.add(fresh);
    this.#set({});
  }

  #fold(): void {
    this.#conversation = new Conversation();
    this.#conversation.add(this.#events);
  }

  #lastSequence(): bigint {
    return this.#events.at(-1)?.sequence ?? 0n;
  }

  #set(changes: Partial<SessionView>): void {
    const { items, run, todo } = this.#conversation;
    const session = changes.session ?? this.#view.session;
    const isRunning = run === undefined ? (session?.runningRunId ?? "") !== "" : run.stopReason === undefined;
    this.#view = { ...this.#view, ...changes, items: [...items], run, todo, isRunning };
    for (const listener of this.#listeners) listener();
  }
}

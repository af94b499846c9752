import { Conversation, type RunView } from "@hlvm/conversation/conversation";
import type { Item } from "@hlvm/conversation/item";
import type { Event, TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { troubleOf, type Clients, type Trouble } from "../api/clients.ts";
import type { Frame, WatchConnection } from "../watch/watch-connection.ts";

/** Enough for a few screens; those before come as one reads towards them. */
const FIRST_EVENTS = 150;
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
  #isLoadingEarlier = false;
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
        this.#clients.sessions.readEvents({ sessionId, limit: FIRST_EVENTS, settled: true }),
      ]);
      this.#events = events;
      this.#fold(hasMore);
      this.#set({ session, hasEarlier: hasMore, isLoaded: true, trouble: undefined });
    } catch (thrown) {
      this.#set({ trouble: troubleOf(thrown) });
    }
  }

  /** Those before the first one that there is; again only once these have come. */
  readonly loadEarlier = (): void => {
    if (this.#isLoadingEarlier) return;
    this.#isLoadingEarlier = true;
    void this.#loadEarlier().finally(() => {
      this.#isLoadingEarlier = false;
    });
  };

  async #loadEarlier(): Promise<void> {
    const before = this.#events[0]?.sequence;
    if (before === undefined || !this.#view.hasEarlier) return;
    const { sessionId } = this;
    try {
      const { events, hasMore } = await this.#clients.sessions.readEvents({ sessionId, before, limit: PAGE_EVENTS, settled: true });
      if (this.#events[0]?.sequence !== before) return;
      this.#events = [...events, ...this.#events];
      this.#fold(hasMore);
      this.#set({ hasEarlier: hasMore });
    } catch {
      // They are asked for again when somebody scrolls on; the connection's own line says what is wrong.
    }
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

  /** A turn that is not there from its beginning waits for the page before it: what stands first would change under the reader. */
  #fold(hasEarlier: boolean): void {
    const { runId, turn } = this.#events[0] ?? {};
    const whole = hasEarlier ? this.#events.findIndex((event) => event.runId !== runId || event.turn !== turn) : 0;
    this.#conversation = new Conversation();
    this.#conversation.add(this.#events.slice(Math.max(0, whole)));
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

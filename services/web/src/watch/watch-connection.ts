import type { Client } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TopicSchema, WatchResponse, WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";

export type Topic = NonNullable<MessageInitShape<typeof TopicSchema>["topic"]>;
export type Frame = WatchResponse["frame"];

export interface Subscription {
  /** Called at each opening: a topic begins where its reader is. */
  readonly topic: () => Topic;
  readonly onFrame: (frame: Frame) => void;
}

export type ConnectionStatus = { readonly state: "connecting" | "live" } | { readonly state: "lost"; readonly since: Date };

const FIRST_DELAY_MILLISECONDS = 250;
const MAXIMUM_DELAY_MILLISECONDS = 8_000;
/** The edge says something every 15 s. */
const SILENCE_MILLISECONDS = 40_000;
const HIDDEN_MILLISECONDS = 30_000;
/** Topics that change together open one stream. */
const SETTLE_MILLISECONDS = 20;

/**
 * The one stream of this tab. A browser opens six connections to a host at most, so whatever the page follows is a topic of it.
 * Another set of topics is another stream; the one before goes when that has caught up.
 */
export class WatchConnection {
  readonly #client: Client<typeof WatchService>;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #listeners = new Set<() => void>();
  /** To the other tabs of this browser, which has six connections for all of them: who is looked at says so. */
  readonly #tabs = new BroadcastChannel("hlvm-watch");
  #status: ConnectionStatus = { state: "connecting" };
  #current: AbortController | undefined;
  #attempts = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: Client<typeof WatchService>) {
    this.#client = client;
    document.addEventListener("visibilitychange", () => this.#visibilityChanged());
    addEventListener("online", () => this.#openSoon(0));
    this.#tabs.addEventListener("message", () => {
      if (document.hidden) this.#current?.abort();
    });
    if (!document.hidden) this.#sayLookedAt();
  }

  readonly status = (): ConnectionStatus => this.#status;

  readonly onStatus = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  subscribe(name: string, subscription: Subscription): () => void {
    this.#subscriptions.set(name, subscription);
    this.#openSoon(SETTLE_MILLISECONDS);
    return () => {
      if (this.#subscriptions.get(name) !== subscription) return;
      this.#subscriptions.delete(name);
      this.#openSoon(SETTLE_MILLISECONDS);
    };
  }

  #openSoon(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#open(), milliseconds);
  }

  async #open(): Promise<void> {
    const before = this.#current;
    const closing = new AbortController();
    this.#current = closing;
    const subscriptions = new Map(this.#subscriptions);
    if (subscriptions.size === 0 || document.hidden) return before?.abort();
    const behind = new Set(subscriptions.keys());
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      const topics = [...subscriptions].map(([name, { topic }]) => ({ name, topic: topic() }));
      for await (const { topic, frame } of this.#client.watch({ topics }, { signal: closing.signal, timeoutMs: 0 })) {
        clearTimeout(silence);
        silence = setTimeout(() => closing.abort(), SILENCE_MILLISECONDS);
        this.#setStatus({ state: "live" });
        this.#attempts = 0;
        subscriptions.get(topic)?.onFrame(frame);
        if (frame.case === "lagging" || (frame.case === "ended" && isPassing(frame.value.reason))) throw new Error(frame.case);
        if (frame.case === "caughtUp" || frame.case === "ended") behind.delete(topic);
        if (behind.size === 0) before?.abort();
      }
    } catch {
      // Whatever ended it, it is opened again, unless another one has taken its place.
    } finally {
      clearTimeout(silence);
      before?.abort();
      closing.abort();
    }
    if (this.#current === closing && !document.hidden && this.#subscriptions.size > 0) this.#lost();
  }

  #lost(): void {
    if (this.#status.state !== "lost" && this.#attempts > 0) this.#setStatus({ state: "lost", since: new Date() });
    const longest = Math.min(FIRST_DELAY_MILLISECONDS * 2 ** this.#attempts++, MAXIMUM_DELAY_MILLISECONDS);
    this.#openSoon(longest * (1 - Math.random() / 2));
  }

  #visibilityChanged(): void {
    clearTimeout(this.#hiddenTimer);
    if (document.hidden) this.#hiddenTimer = setTimeout(() => this.#current?.abort(), HIDDEN_MILLISECONDS);
    else {
      this.#sayLookedAt();
      if (this.#current?.signal.aborted !== false) this.#openSoon(0);
    }
  }

  #sayLookedAt(): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none: it reaches its own origin only
    this.#tabs.postMessage("looked at");
  }

  #setStatus(status: ConnectionStatus): void {
    if (this.#status.state === status.state) return;
    this.#status = status;
    for (const listener of this.#listeners) listener();
  }
}

/** A service that is away comes back; what was refused stays so. */
function isPassing(reason: string): boolean {
  return reason === "service_unreachable" || reason === "internal" || reason === "database_unreachable";
}

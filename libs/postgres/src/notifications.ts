import { EventEmitter } from "node:events";
import pg from "pg";
import type { Log } from "@hlvm/log/create-log";

const RECONNECT_MILLISECONDS = [50, 200, 1_000, 5_000];

/**
 * Listens on one channel over a connection of its own, and comes back after a cut. A notification says only that
 * something happened, so after a cut `onReconnect` must look for what was missed.
 */
export class Notifications {
  readonly #url: string;
  readonly #channel: string;
  readonly #log: Log;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #client: pg.Client | undefined;
  #closed = false;
  #attempt = 0;

  private constructor(url: string, channel: string, log: Log) {
    this.#url = url;
    this.#channel = channel;
    this.#log = log;
  }

  static async open(url: string, channel: string, log: Log): Promise<Notifications> {
    if (!/^[a-z_]+$/.test(channel)) throw new Error(`${channel} is no channel name`);
    const notifications = new Notifications(url, channel, log);
    await notifications.#connect();
    return notifications;
  }

  /** @returns a function that ends it */
  onPayload(listener: (payload: string) => void): () => void {
    this.#events.on("payload", listener);
    return () => this.#events.off("payload", listener);
  }

  /** @returns a function that ends it */
  onReconnect(listener: () => void): () => void {
    this.#events.on("reconnect", listener);
    return () => this.#events.off("reconnect", listener);
  }

  /** Resolves when no connection is left, not even one that was just being made. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url, keepAlive: true, connectionTimeoutMillis: 5_000 });
    client.on("notification", (message) => this.#events.emit("payload", message.payload ?? ""));
    client.on("error", (cause) => this.#log.warn({ err: cause }, "the listening connection broke"));
    this.#client = client;
    try {
      await client.connect();
      await client.query(`LISTEN ${this.#channel}`);
    } catch (cause) {
      client.end().catch(() => undefined);
      throw cause;
    }
    this.#attempt = 0;
    client.once("end", () => this.#reconnectLater());
  }

  #reconnectLater(): void {
    if (this.#closed) return;
    const wait = RECONNECT_MILLISECONDS[Math.min(this.#attempt++, RECONNECT_MILLISECONDS.length - 1)];
    setTimeout(() => {
      if (this.#closed) return;
      this.#connect().then(
        () => this.#events.emit("reconnect"),
        () => this.#reconnectLater(),
      );
    }, wait).unref();
  }
}

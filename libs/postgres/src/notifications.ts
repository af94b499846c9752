import { EventEmitter } from "node:events";
import pg from "pg";
import type { Log } from "@hlvm/log/create-log";

const RECONNECT_MILLISECONDS = [50, 200, 1_000, 5_000];
const STATEMENT_DEADLINE_MILLISECONDS = 5_000;

/**
 * Listens on one channel over a connection of its own, and comes back after a cut. A notification says only that
 * something happened, so after a cut `onReconnect` must look for what was missed. What is sent over the same connection
 * does not come back to it.
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

  /** Sends one notification for each payload, in one statement; fails while the connection is cut. */
  async notify(payloads: readonly string[]): Promise<void> {
    const client = this.#client!;
    try {
      await client.query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", [this.#channel, payloads]);
    } catch (cause) {
      // Where it does not answer it does not listen either: a new one is made.
      client.end().catch(() => undefined);
      throw cause;
    }
  }

  /** Resolves when no connection is left, not even one that was just being made. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: STATEMENT_DEADLINE_MILLISECONDS,
    });
    let ownProcess: number | undefined;
    client.on("notification", ({ processId, payload = "" }) => {
      if (processId !== ownProcess) this.#events.emit("payload", payload);
    });
    client.on("error", (cause) => this.#log.warn({ err: cause }, "the listening connection broke"));
    this.#client = client;
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      ownProcess = rows[0]!.pid;
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

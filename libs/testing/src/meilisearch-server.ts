import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMeilisearch, type RunningMeilisearch } from "@hlvm/meilisearch-binary/start-meilisearch";

/** A real Meilisearch of its own for a test file, which can be stopped and started again at the same address. */
export class MeilisearchServer {
  readonly key = randomBytes(16).toString("hex");
  readonly #directory = mkdtempSync(join(tmpdir(), "hlvm-meilisearch-"));
  #running: RunningMeilisearch | undefined;
  #port: number | undefined;

  static async start(): Promise<MeilisearchServer> {
    const server = new MeilisearchServer();
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#running = await startMeilisearch({
      directory: join(this.#directory, "index"),
      logFile: join(this.#directory, "meilisearch.log"),
      masterKey: this.key,
      port: this.#port,
    });
    this.#port = Number(new URL(this.#running.url).port);
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  /** Stops it and removes its files. */
  async destroy(): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

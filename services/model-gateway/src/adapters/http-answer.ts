import type { IncomingMessage } from "node:http";
import type { Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";

/** Longer than any list of models; a peer that never ends its answer does not fill the memory. */
const LONGEST_TEXT_BYTES = 8 * 1024 * 1024;
const DRAIN_MILLISECONDS = 1_000;

/** The answer to a request of `sendHttp`. Its body can be read once, and has to be. */
export class HttpAnswer implements Answer {
  readonly #response: IncomingMessage;
  readonly #exchange: Exchange;

  constructor(response: IncomingMessage, exchange: Exchange) {
    this.#response = response;
    this.#exchange = exchange;
  }

  get status(): number {
    return this.#response.statusCode!;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  readonly headers = {
    get: (name: string): string | null => {
      const value = this.#response.headers[name];
      return Array.isArray(value) ? value.join(", ") : (value ?? null);
    },
  };

  /**
   * The body as it arrives. Whoever leaves before its end leaves the rest to be read away in the background, for up to a
   * second, so that the connection serves the next request.
   */
  async *pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const piece of this.#response.iterator({ destroyOnReturn: false })) {
        this.#exchange.heard(piece as Uint8Array);
        yield piece as Uint8Array;
      }
    } finally {
      if (this.#response.readable) this.#drain();
    }
  }

  /** The whole body; one of more than 8 MiB is cut there. */
  async text(): Promise<string> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of this.pieces()) {
      pieces.push(piece);
      length += piece.length;
      if (length > LONGEST_TEXT_BYTES) break;
    }
    return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, LONGEST_TEXT_BYTES));
  }

  #drain(): void {
    const timer = setTimeout(() => this.#response.destroy(), DRAIN_MILLISECONDS);
    this.#response.once("close", () => clearTimeout(timer));
    // What was wanted is there: how its connection ends does not matter.
    this.#response.on("error", () => undefined);
    this.#response.resume();
  }
}

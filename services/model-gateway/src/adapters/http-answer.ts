import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";

/** Longer than any list of models; a peer that never ends its answer does not fill the memory. */
const LONGEST_TEXT_BYTES = 8 * 1024 * 1024;
/** A peer that sends faster than it is read waits from here on. */
const MOST_UNREAD_BYTES = 64 * 1024;
const DRAIN_MILLISECONDS = 1_000;
const INFORMATIONAL = 200;

type Next = IteratorResult<Uint8Array, void>;

/** The answer to a request of `sendHttp`, as undici hands it over. Its body can be read once, and has to be. */
export class HttpAnswer implements Answer, Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #begun = Promise.withResolvers<this>();
  readonly #stopListening: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  /** Set once nothing more comes; with a reason where the answer was cut. */
  #end: { readonly failure?: Error } | undefined;
  #reader: PromiseWithResolvers<Next> | undefined;
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#stopListening = exchange.onEnd((reason) => this.#abort(reason as Error));
  }

  /** Resolves with this answer as soon as its headers are there. @throws the network's error, with its `code` */
  get begun(): Promise<this> {
    return this.#begun.promise;
  }

  get status(): number {
    return this.#status;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  readonly headers = {
    get: (name: string): string | null => {
      const value = this.#headers[name];
      return Array.isArray(value) ? value.join(", ") : (value ?? null);
    },
  };

  /**
   * The body as it arrives. Whoever leaves before its end leaves the rest to be read away in the background, for up to a
   * second, so that the connection serves the next request.
   */
  pieces(): AsyncIterableIterator<Uint8Array, void> {
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => {
        const reader = Promise.withResolvers<Next>();
        this.#reader = reader;
        this.#serve();
        return reader.promise;
      },
      return: () => {
        this.#drain();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
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

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#end !== undefined) controller.abort(this.#end.failure!);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < INFORMATIONAL) return;
    this.#status = status;
    this.#headers = headers;
    this.#exchange.heard();
    this.#begun.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#drainTimer !== undefined) return;
    this.#unread.push(piece);
    this.#unreadBytes += piece.length;
    if (this.#unreadBytes > MOST_UNREAD_BYTES) controller.pause();
    this.#serve();
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, failure: Error): void {
    this.#begun.reject(failure);
    this.#finish({ failure });
  }

  #abort(reason: Error): void {
    this.#unread = [];
    this.onResponseError(undefined, reason);
    this.#controller?.abort(reason);
  }

  #finish(end: { readonly failure?: Error }): void {
    this.#end ??= end;
    clearTimeout(this.#drainTimer);
    this.#stopListening();
    this.#serve();
  }

  /** Whoever reads gets what there is. */
  #serve(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    const piece = this.#unread.shift();
    if (piece === undefined && this.#end === undefined) {
      if (this.#controller?.paused) this.#controller.resume();
      return;
    }
    this.#reader = undefined;
    if (piece !== undefined) this.#give(piece, reader);
    else if (this.#end?.failure !== undefined) reader.reject(this.#end.failure);
    else reader.resolve({ done: true, value: undefined });
  }

  #give(piece: Buffer, reader: PromiseWithResolvers<Next>): void {
    this.#unreadBytes -= piece.length;
    try {
      this.#exchange.heard(piece);
      reader.resolve({ done: false, value: piece });
    } catch (thrown) {
      this.#drain();
      reader.reject(thrown);
    }
  }

  #drain(): void {
    if (this.#end !== undefined) return;
    this.#unread = [];
    this.#drainTimer = setTimeout(() => this.#abort(new Error("The rest was not read.")), DRAIN_MILLISECONDS);
    this.#controller?.resume();
  }
}

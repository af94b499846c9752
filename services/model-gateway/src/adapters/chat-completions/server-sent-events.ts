import { StringDecoder } from "node:string_decoder";
import { createParser, type EventSourceParser } from "eventsource-parser";
import { ModelError } from "../../domain/model-error.ts";

/** Longer than any one event of a provider; a peer that never ends one does not fill the memory. */
const LONGEST_EVENT = 8 * 1024 * 1024;
export const DONE = "[DONE]";
const BYTE_ORDER_MARK = "\uFEFF";

/** The data of server-sent events, `[DONE]` last where it comes: nothing after it is read. */
export class ServerSentEvents {
  readonly #events: string[] = [];
  readonly #lines: WholeLines;
  readonly #parser: EventSourceParser;
  #isDone = false;

  constructor(provider: string) {
    this.#lines = new WholeLines(provider);
    this.#parser = createParser({
      maxBufferSize: LONGEST_EVENT,
      onEvent: ({ data }) => this.#add(data),
      onError: ({ type, field, value }) => {
        if (type === "max-buffer-size-exceeded") throw endless(provider);
        // Some llama-servers report what went wrong in a field of this name.
        if (field === "error") this.#add(value ?? "");
      },
    });
  }

  /** Those that end with this piece of the body. @throws ModelError `stream_malformed` */
  take(piece: Uint8Array): string[] {
    this.#parser.feed(this.#lines.take(piece));
    return this.#events.splice(0);
  }

  /** One that the body ends with. @throws ModelError `stream_malformed` */
  end(): string[] {
    this.#parser.feed(this.#lines.end());
    return this.#events.splice(0);
  }

  #add(data: string): void {
    if (!this.#isDone) this.#events.push(data);
    this.#isDone ||= data === DONE;
  }
}

/** The parser drops an unfinished line whose field it does not know: it gets lines whole. */
class WholeLines {
  readonly #provider: string;
  /** Of a TextDecoder the making, and each piece, cost several times as much. */
  readonly #decoder = new StringDecoder("utf8");
  #hasBegun = false;
  #unfinished = "";

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** @throws ModelError `stream_malformed` */
  take(piece: Uint8Array): string {
    const text = this.#withoutMark(this.#decoder.write(piece));
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    const lines = end > 0 ? this.#unfinished + text.slice(0, end) : "";
    this.#unfinished = end > 0 ? text.slice(end) : this.#unfinished + text;
    if (this.#unfinished.length > LONGEST_EVENT) throw endless(this.#provider);
    return lines;
  }

  /** A last event without its blank line counts: some servers end so. */
  end(): string {
    return `${this.#unfinished}${this.#decoder.end()}\n\n`;
  }

  /** A byte order mark at the beginning belongs to no field. */
  #withoutMark(text: string): string {
    if (this.#hasBegun || text === "") return text;
    this.#hasBegun = true;
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  }
}

function endless(provider: string): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "stream_malformed",
    message: `${provider} sent an event of more than ${LONGEST_EVENT} characters.`,
    advice: "Check that the URL is that of a model server.",
    provider,
  });
}

import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { ModelError } from "../../domain/model-error.ts";

/** Longer than any one event of a provider; a peer that never ends one does not fill the memory. */
const LONGEST_EVENT = 8 * 1024 * 1024;
const BYTE_ORDER_MARK = "\uFEFF";

/** The data of each server-sent event, `[DONE]` last where it comes: nothing after it is read. */
export async function* readServerSentEvents(pieces: AsyncIterable<Uint8Array>, provider: string): AsyncGenerator<string, void> {
  const events: string[] = [];
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ data }) => events.push(data),
    onError: ({ type, field, value }) => {
      if (type === "max-buffer-size-exceeded") throw endless(provider);
      // Some llama-servers report what went wrong in a field of this name.
      if (field === "error") events.push(value ?? "");
    },
  });
  const lines = new WholeLines(provider);
  for await (const piece of pieces) {
    parser.feed(lines.take(piece));
    for (const event of events.splice(0)) {
      yield event;
      if (event === "[DONE]") return;
    }
  }
  parser.feed(lines.end());
  for (const event of events) {
    yield event;
    if (event === "[DONE]") return;
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

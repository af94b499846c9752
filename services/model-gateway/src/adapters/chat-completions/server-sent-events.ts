import { createParser } from "eventsource-parser";
import { ModelError } from "../../domain/model-error.ts";

/** Longer than any one event of a provider; a peer that never ends one does not fill the memory. */
const LONGEST_EVENT = 8 * 1024 * 1024;

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
  for await (const lines of wholeLines(pieces, provider)) {
    parser.feed(lines);
    for (const event of events.splice(0)) {
      yield event;
      if (event === "[DONE]") return;
    }
  }
}

/** The parser drops an unfinished line whose field it does not know: it gets lines whole. */
async function* wholeLines(pieces: AsyncIterable<Uint8Array>, provider: string): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let unfinished = "";
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true });
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    if (end > 0) {
      yield unfinished + text.slice(0, end);
      unfinished = "";
    }
    unfinished += text.slice(end);
    if (unfinished.length > LONGEST_EVENT) throw endless(provider);
  }
  // A last event without its blank line counts: some servers end so.
  yield `${unfinished}${decoder.decode()}\n\n`;
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

import { ModelError } from "../../domain/model-error.ts";

/** Longer than any one event of a provider; a peer that never ends a line does not fill the memory. */
const LONGEST_LINE = 8 * 1024 * 1024;

/** The data of each server-sent event, `[DONE]` last where it comes: nothing after it is read. */
export async function* readServerSentEvents(pieces: AsyncIterable<Uint8Array>, provider: string): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE) throw endless(provider);
    for (const line of lines) {
      if (line !== "") data.push(...fieldOf(line));
      else if (data.length > 0) {
        const event = data.join("\n");
        data = [];
        yield event;
        if (event === "[DONE]") return;
      }
    }
  }
  // A last event without its blank line counts: some servers end so.
  data.push(...(rest + decoder.decode()).split(/\r\n|\n|\r/).flatMap(fieldOf));
  if (data.length > 0) yield data.join("\n");
}

function fieldOf(line: string): string[] {
  const match = /^(?:data|error): ?(.*)$/s.exec(line);
  return match === null ? [] : [match[1]!];
}

function endless(provider: string): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "stream_malformed",
    message: `${provider} sent a line of more than ${LONGEST_LINE} characters.`,
    advice: "Check that the URL is that of a model server.",
    provider,
  });
}

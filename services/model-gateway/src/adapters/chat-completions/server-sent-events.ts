import { ModelError } from "../../domain/model-error.ts";

/** Longer than any one event of a provider; a peer that never ends a line does not fill the memory. */
const LONGEST_LINE = 8 * 1024 * 1024;
const DRAIN_MILLISECONDS = 1_000;

/**
 * The data of each server-sent event, `[DONE]` last where it comes. What follows that is read away in the background, so that
 * the connection serves the next request. Read it to its end: leaving earlier gives the connection up.
 */
export async function* readServerSentEvents(body: ReadableStream<Uint8Array>, provider: string): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  let isComplete = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      if (rest.length > LONGEST_LINE) throw endless(provider);
      for (const line of lines) {
        if (line !== "") data.push(...fieldOf(line));
        else if (data.length > 0) {
          const event = data.join("\n");
          data = [];
          isComplete = event === "[DONE]";
          yield event;
          if (isComplete) return;
        }
      }
      if (done) {
        // A last event without its blank line counts: some servers end so.
        data.push(...fieldOf(rest));
        if (data.length > 0) yield data.join("\n");
        isComplete = true;
        return;
      }
    }
  } finally {
    if (isComplete) void drain(reader);
    else reader.cancel().catch(() => undefined);
  }
}

function fieldOf(line: string): string[] {
  const match = /^(?:data|error): ?(.*)$/s.exec(line);
  return match === null ? [] : [match[1]!];
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_MILLISECONDS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is complete: how its connection ends does not matter.
  } finally {
    clearTimeout(timer);
  }
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

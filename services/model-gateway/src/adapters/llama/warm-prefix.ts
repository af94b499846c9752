import type { Generation, Message, Part } from "../../domain/generation.ts";
import { askJson } from "../ask-json.ts";
import { chatInput } from "../chat-completions/chat-request.ts";
import { wholeDialect } from "../chat-completions/dialect.ts";
import { Exchange } from "../exchange.ts";
import { LLAMA } from "./provider-name.ts";

/** The results of calls, of which nothing is known yet. */
function pending(answer: Message): Message {
  const results = answer.parts.flatMap((part): Part[] =>
    part.kind === "tool-call" ? [{ kind: "tool-result", id: part.id, tool: part.tool, content: "", isError: false }] : [],
  );
  return { role: "tool", parts: results };
}

/**
 * Has a server read what the request after an answer's calls begins with, as its template writes it. With `n_predict` 0 it writes one
 * token at most. What it has read when the signal ends it stays in its cache.
 * @param generation with the answer as its last message
 * @returns whether it read all of it
 */
export async function warmPrefix(url: string, generation: Generation, signal: AbortSignal): Promise<boolean> {
  const exchange = new Exchange(LLAMA, signal, () => undefined);
  const messages = [...generation.messages, pending(generation.messages.at(-1)!)];
  const body = { ...chatInput(LLAMA, { ...generation, messages }, wholeDialect("llama")), n_predict: 0, stream: false };
  try {
    await askJson(exchange, { provider: LLAMA, url: `${url}/v1/chat/completions`, headers: {}, body });
    return true;
  } catch {
    // The next request reads it itself, and says what is wrong.
    return false;
  } finally {
    exchange.close();
  }
}

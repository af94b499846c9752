import type { Generation } from "../../domain/generation.ts";
import { ModelError } from "../../domain/model-error.ts";
import { askJson } from "../ask-json.ts";
import { wholeDialect } from "../chat-completions/dialect.ts";
import { chatInput } from "../chat-completions/chat-request.ts";
import { countInExchange } from "../count-in-exchange.ts";
import { LLAMA } from "./provider-name.ts";

/**
 * What a request comes to after the model's own template and tokenizer. A llama-server tells in one call; one from before it
 * could is asked for the rendered prompt and then for its tokens.
 * @param url of the server, without `/v1`
 */
export function countLlamaTokens(url: string, generation: Generation, signal: AbortSignal): Promise<number> {
  return countInExchange(LLAMA, signal, async (exchange) => {
    const ask = (path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> =>
      askJson(exchange, { provider: LLAMA, url: `${url}${path}`, headers: {}, body });
    const input = chatInput(LLAMA, generation, wholeDialect("llama"));
    try {
      return (await ask("/v1/chat/completions/input_tokens", input)).input_tokens;
    } catch (thrown) {
      if (!(thrown instanceof ModelError) || thrown.code !== "not_found") throw thrown;
      const { prompt } = await ask("/apply-template", input);
      const { tokens } = await ask("/tokenize", { content: prompt, add_special: true, parse_special: true });
      return Array.isArray(tokens) ? tokens.length : undefined;
    }
  });
}

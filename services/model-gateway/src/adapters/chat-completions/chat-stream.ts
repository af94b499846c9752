import { randomUUID } from "node:crypto";
import type { Delta, Finish, Usage } from "../../domain/generation.ts";
import { HeldCalls } from "../held-calls.ts";
import { sealProviderData } from "../provider-data.ts";
import { readFailure } from "../read-failure.ts";
import type { ChatThinking } from "./chat-request.ts";

interface ChatCallDelta {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown };
}

interface ChatChunk {
  readonly error?: unknown;
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly refusal?: string | null;
      /** DeepSeek, xAI, llama-server; OpenRouter and Ollama say `reasoning`. */
      readonly reasoning_content?: string | null;
      readonly reasoning?: string | null;
      readonly tool_calls?: readonly ChatCallDelta[] | null;
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
    readonly total_tokens?: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
  } | null;
}

interface OpenCall {
  readonly index: number;
  id: string;
  name: string;
  argumentsJson: string;
}

/** The deltas of a streamed chat completion. Without a finish reason and `[DONE]` it gives no `finish`: the stream was cut. */
export async function* readChatStream(provider: string, model: string, events: AsyncIterable<string>): AsyncGenerator<Delta, void> {
  const answer = new ChatAnswer(provider, model);
  for await (const event of events) {
    if (event === "[DONE]") yield* answer.end();
    else yield* answer.take(parse(provider, event));
  }
}

class ChatAnswer {
  readonly #provider: string;
  readonly #model: string;
  readonly #calls: OpenCall[] = [];
  #thinking: { readonly field: string; text: string } | undefined;
  #refusal = "";
  #finishReason = "";
  #usage: Usage | undefined;

  constructor(provider: string, model: string) {
    this.#provider = provider;
    this.#model = model;
  }

  *take(chunk: ChatChunk): Generator<Delta> {
    if (chunk.error !== undefined && chunk.error !== null)
      throw readFailure(this.#provider, { body: chunk, cause: new Error("an error inside the stream", { cause: chunk.error }) });
    if (chunk.usage) this.#usage = usageOf(chunk.usage);
    const choice = chunk.choices?.[0];
    if (choice === undefined) return;
    const delta = choice.delta ?? {};
    const field = delta.reasoning_content ? "reasoning_content" : "reasoning";
    const thought = delta.reasoning_content || delta.reasoning;
    if (thought) {
      this.#thinking ??= { field, text: "" };
      this.#thinking.text += thought;
      yield { kind: "thinking-delta", text: thought };
    }
    if (delta.refusal) this.#refusal += delta.refusal;
    if (delta.content) {
      yield* this.#endThinking();
      yield { kind: "text", text: delta.content };
    }
    for (const call of delta.tool_calls ?? []) this.#takeCall(call);
    if (choice.finish_reason) this.#finishReason = choice.finish_reason;
  }

  *end(): Generator<Delta> {
    if (this.#finishReason === "") return;
    yield* this.#endThinking();
    const finish = this.#finish();
    const held = new HeldCalls();
    for (const { id, name, argumentsJson } of this.#calls) yield* held.add({ id, tool: name, argumentsJson });
    yield* held.settle(finish.reason);
    if (this.#usage !== undefined) yield { kind: "usage", ...this.#usage };
    yield { kind: "finish", ...finish };
  }

  *#endThinking(): Generator<Delta> {
    if (this.#thinking === undefined) return;
    const { field, text } = this.#thinking;
    this.#thinking = undefined;
    yield { kind: "thinking", text, providerData: sealProviderData(this.#provider, this.#model, { field } satisfies ChatThinking) };
  }

  #takeCall(delta: ChatCallDelta): void {
    const index = delta.index ?? this.#calls.length;
    let call = this.#calls.findLast((each) => each.index === index);
    // Some servers give every parallel call the same index; a new id is a new call.
    if (call === undefined || (delta.id && delta.function?.name && delta.id !== call.id)) {
      call = { index, id: delta.id || `call_${randomUUID()}`, name: "", argumentsJson: "" };
      this.#calls.push(call);
    }
    const written = delta.function?.arguments;
    call.name ||= delta.function?.name ?? "";
    call.argumentsJson += typeof written === "string" ? written : written ? JSON.stringify(written) : "";
  }

  #finish(): Finish {
    if (this.#refusal !== "") return { reason: "refusal", detail: this.#refusal };
    if (this.#finishReason === "content_filter") return { reason: "refusal", detail: "The provider's content filter ended the answer." };
    if (this.#finishReason === "length") return { reason: "length", detail: "" };
    return { reason: this.#calls.length > 0 ? "tool-calls" : "stop", detail: "" };
  }
}

/** `prompt_tokens` counts what came from the cache too; some servers leave reasoning out of `completion_tokens`. */
function usageOf(usage: NonNullable<ChatChunk["usage"]>): Usage {
  const prompt = usage.prompt_tokens ?? 0;
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    input: Math.max(0, prompt - cacheRead),
    output: Math.max(usage.completion_tokens ?? 0, (usage.total_tokens ?? 0) - prompt),
    cacheRead,
    cacheWrite: 0,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}

function parse(provider: string, event: string): ChatChunk {
  try {
    const value: unknown = JSON.parse(event);
    if (typeof value === "object" && value !== null) return value;
    throw new SyntaxError("an event is not an object");
  } catch (cause) {
    throw readFailure(provider, { cause });
  }
}

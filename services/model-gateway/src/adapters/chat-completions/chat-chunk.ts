import type { Usage } from "../../domain/generation.ts";
import { readFailure } from "../read-failure.ts";

/** A piece of a call, as servers of chat completions stream it. */
export interface ChatCallDelta {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown };
  /** Google: its signature of the thinking behind a call, wanted back with it. */
  readonly extra_content?: unknown;
}

/** Mistral: an answer in parts, the model's reasoning among them. */
interface ChatContentPart {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string | readonly { readonly text?: string }[];
}

export interface ChatDelta {
  readonly content?: string | readonly ChatContentPart[] | null;
  readonly refusal?: string | null;
  /** DeepSeek, xAI, llama-server; OpenRouter and Ollama say `reasoning`. */
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  /** OpenRouter: the same in parts that are wanted back. */
  readonly reasoning_details?: readonly object[] | null;
  readonly tool_calls?: readonly ChatCallDelta[] | null;
}

/** One event of a streamed chat completion. */
export interface ChatChunk {
  readonly error?: unknown;
  readonly choices?: readonly { readonly delta?: ChatDelta | null; readonly finish_reason?: string | null }[] | null;
  readonly usage?: ChatUsage | null;
}

interface ChatUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
  /** Where servers say the same without the details: Moonshot, Groq and others; DeepSeek the last. */
  readonly cached_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly reasoning_tokens?: number;
  readonly prompt_cache_hit_tokens?: number;
}

/** @throws ModelError `stream_malformed` */
export function parseChunk(provider: string, event: string): ChatChunk {
  try {
    const value: unknown = JSON.parse(event);
    if (typeof value === "object" && value !== null) return value;
    throw new SyntaxError("an event is not an object");
  } catch (cause) {
    throw readFailure(provider, { cause });
  }
}

/** What a piece says, and what of it is thinking. */
export function wordsOf({ content }: ChatDelta): { readonly text: string; readonly thinking: string } {
  if (!Array.isArray(content)) return { text: typeof content === "string" ? content : "", thinking: "" };
  const parts = content as readonly ChatContentPart[];
  const thoughts = parts.flatMap(({ thinking }) =>
    typeof thinking === "string" ? [thinking] : (thinking ?? []).map(({ text }) => text ?? ""),
  );
  return { text: parts.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join(""), thinking: thoughts.join("") };
}

/** `prompt_tokens` counts what came from the cache too; some servers leave reasoning out of `completion_tokens`. */
export function usageOf(usage: ChatUsage): Usage {
  const prompt = usage.prompt_tokens ?? 0;
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? usage.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    output: Math.max(usage.completion_tokens ?? 0, (usage.total_tokens ?? 0) - prompt),
    cacheRead,
    cacheWrite,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? usage.reasoning_tokens ?? 0,
  };
}

import type { Finish } from "../../domain/generation.ts";
import { ModelError } from "../../domain/model-error.ts";

/** How servers of chat completions call the end of an answer, in lower case. */
const REASONS: Readonly<Record<string, Finish["reason"]>> = {
  stop: "stop",
  eos: "stop",
  eos_token: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  complete: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  tool_use: "tool-calls",
  length: "length",
  max_tokens: "length",
  /** Mistral: the model's window is full. */
  model_length: "length",
  content_filter: "refusal",
  safety: "refusal",
  recitation: "refusal",
  /** Zhipu. */
  sensitive: "refusal",
};

/** The server gave up in the middle: the same request may come through. */
const BROKEN_OFF: ReadonlySet<string> = new Set([
  "error",
  "network_error",
  "abort",
  /** DeepSeek: it has no room at the moment. */
  "insufficient_system_resource",
  "malformed_function_call",
]);

/**
 * What the end of an answer means.
 * @throws ModelError `answer_broken_off`, which may pass; `finish_unknown` for what nobody here knows: it is no clean end
 */
export function readFinish(provider: string, reason: string): Finish["reason"] {
  const known = REASONS[reason.toLowerCase()];
  if (known !== undefined) return known;
  const shown = JSON.stringify(reason.slice(0, 80));
  if (BROKEN_OFF.has(reason.toLowerCase()))
    throw new ModelError({
      class: "transient",
      reason: "answer_broken_off",
      message: `${provider} gave its answer up in the middle: ${shown}.`,
      advice: "Ask again in a little while; what was shown so far is not the whole answer.",
      provider,
      providerCode: reason.slice(0, 80),
    });
  throw new ModelError({
    class: "unknown",
    reason: "finish_unknown",
    message: `${provider} ended its answer with ${shown}, which says nothing that is known here.`,
    advice: "Ask again; if it stays, take another model with --model and report the word.",
    provider,
    providerCode: reason.slice(0, 80),
  });
}

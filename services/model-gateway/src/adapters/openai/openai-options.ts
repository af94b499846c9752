import type OpenAI from "openai";
import type { Effort, Generation } from "../../domain/generation.ts";
import { fittingName } from "../fitting-name.ts";
import { notSupported } from "../not-supported.ts";

export const OPENAI = "openai";
export const NAME = /^[\w-]{1,64}$/;

/**
 * Reasoning counts toward `max_output_tokens`: this comes on top of what the caller wants as its answer, so that reasoning
 * does not eat it up.
 */
const REASONING_TOKENS = 16_384;
/** They refuse any sampling of a caller's. */
const REASONING_MODELS = /^(?:gpt-(?:[5-9]|\d\d)|o\d)(?!.*-chat)/;

const EFFORTS: Readonly<Record<Effort, OpenAI.ReasoningEffort>> = {
  none: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  maximum: "xhigh",
};
const TIERS = { standard: "default", flex: "flex", priority: "priority" } as const;

type Options = Partial<
  Pick<
    OpenAI.Responses.ResponseCreateParamsStreaming,
    | "include"
    | "max_output_tokens"
    | "parallel_tool_calls"
    | "prompt_cache_key"
    | "prompt_cache_retention"
    | "reasoning"
    | "safety_identifier"
    | "service_tier"
    | "temperature"
    | "text"
    | "tool_choice"
    | "top_p"
  >
>;

/**
 * What a request asks for besides an answer, in the words of the Responses API. A model that does not reason is not told of an effort.
 * @throws ModelError `request_not_supported`
 */
export function openaiOptions(generation: Generation): Options {
  const { model, temperature, topP, cacheKey, cacheHour, userHash, serviceTier, stopSequences, effort } = generation;
  const isReasoning = REASONING_MODELS.test(model);
  if (stopSequences !== undefined) throw notSupported(OPENAI, "stop sequences", "Leave them out, and cut the answer where it has one.");
  return {
    max_output_tokens: generation.maximumOutputTokens + (isReasoning ? REASONING_TOKENS : 0),
    ...(isReasoning ? reasoningOf(effort) : {}),
    ...(isReasoning || temperature === undefined ? {} : { temperature }),
    ...(isReasoning || topP === undefined ? {} : { top_p: topP }),
    ...toolChoiceOf(generation),
    ...formatOf(generation),
    ...(cacheKey === undefined ? {} : { prompt_cache_key: cacheKey }),
    // What keeps it longer than in memory; there is nothing between.
    ...(cacheHour === true ? { prompt_cache_retention: "24h" as const } : {}),
    ...(userHash === undefined ? {} : { safety_identifier: userHash }),
    ...(serviceTier === undefined ? {} : { service_tier: TIERS[serviceTier] }),
  };
}

function reasoningOf(effort: Effort | undefined): Options {
  const asked = effort === undefined ? {} : { effort: EFFORTS[effort] };
  return { include: ["reasoning.encrypted_content"], reasoning: { summary: "auto", ...asked } };
}

function toolChoiceOf({ tools, toolChoice, parallelToolCalls }: Generation): Options {
  if (tools.length === 0) return {};
  const parallel = parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls };
  switch (toolChoice?.kind) {
    case "none":
      return { tool_choice: "none", ...parallel };
    case "any":
      return { tool_choice: "required", ...parallel };
    case "tool":
      return { tool_choice: { type: "function", name: fittingName(toolChoice.tool, NAME) }, ...parallel };
    default:
      return parallel;
  }
}

function formatOf({ outputFormat }: Generation): Options {
  if (outputFormat === undefined) return {};
  const { name, schema, strict } = outputFormat;
  return {
    text: { format: schema === undefined ? { type: "json_object" } : { type: "json_schema", name, schema: { ...schema }, strict } },
  };
}

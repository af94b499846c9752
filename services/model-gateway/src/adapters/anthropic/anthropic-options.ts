import type Anthropic from "@anthropic-ai/sdk";
import type { Effort, Generation } from "../../domain/generation.ts";
import { fittingName } from "../fitting-name.ts";
import { notSupported } from "../not-supported.ts";

export const ANTHROPIC = "anthropic";
export const TOOL_NAME = /^[\w-]{1,128}$/;

/** They think unasked, as long as they see fit, and refuse any sampling of a caller's. */
const ADAPTIVE_MODELS = /^claude-(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|\d\d)\b/;
/** They think where they are asked to, for so many tokens. */
const BUDGET_MODELS = /^claude-(?:3-7-|(?:opus|sonnet|haiku)-4\b)/;

/**
 * Of newer models, whose thinking counts toward `max_tokens`: this comes on top of what the caller wants as its answer, so that
 * thinking does not eat it up.
 */
const THINKING_TOKENS = 16_384;
const EFFORTS: Readonly<Record<Exclude<Effort, "none">, { readonly word: "low" | "medium" | "high" | "max"; readonly budget: number }>> = {
  minimal: { word: "low", budget: 1_024 },
  low: { word: "low", budget: 4_096 },
  medium: { word: "medium", budget: 8_192 },
  high: { word: "high", budget: 16_384 },
  maximum: { word: "max", budget: 32_768 },
};
const TIERS = { standard: "standard_only", priority: "auto" } as const;

type Options = Partial<
  Pick<
    Anthropic.MessageCreateParamsStreaming,
    "tool_choice" | "stop_sequences" | "output_config" | "thinking" | "metadata" | "service_tier"
  >
> & {
  readonly max_tokens: number;
  /** Older models take them; the SDK does not know them any more. */
  readonly temperature?: number;
  readonly top_p?: number;
};

/**
 * What a request asks for besides an answer, in Anthropic's words. Keys of caches mean nothing to it: it goes by the prefix. A model
 * that does not think is not told of an effort.
 * @throws ModelError `request_not_supported`
 */
export function anthropicOptions(generation: Generation): Options {
  const { stopSequences, userHash, temperature, topP, maximumOutputTokens } = generation;
  const thinking = thinkingOf(generation);
  const isSampled = !ADAPTIVE_MODELS.test(generation.model) && thinking.config?.type !== "enabled";
  const outputConfig = { ...thinking.output, ...formatOf(generation) };
  return {
    max_tokens: maximumOutputTokens + thinking.tokens,
    ...(thinking.config === undefined ? {} : { thinking: thinking.config }),
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
    ...(isSampled && temperature !== undefined ? { temperature: Math.min(1, temperature) } : {}),
    ...(isSampled && topP !== undefined ? { top_p: topP } : {}),
    ...toolChoiceOf(generation),
    ...(stopSequences === undefined ? {} : { stop_sequences: [...stopSequences] }),
    ...(userHash === undefined ? {} : { metadata: { user_id: userHash } }),
    ...serviceTierOf(generation),
  };
}

/** A mark of what the cache is to keep. */
export function cacheMark({ cacheHour }: Generation): { readonly cache_control: Anthropic.CacheControlEphemeral } {
  return { cache_control: cacheHour === true ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" } };
}

interface Thinking {
  readonly config?: Anthropic.ThinkingConfigParam;
  readonly output?: Anthropic.OutputConfig;
  /** Beyond those of the answer. */
  readonly tokens: number;
}

function thinkingOf({ model, effort }: Generation): Thinking {
  const isAdaptive = ADAPTIVE_MODELS.test(model);
  if (effort === undefined) return { tokens: isAdaptive ? THINKING_TOKENS : 0 };
  if (effort === "none") return isAdaptive ? { config: { type: "disabled" }, tokens: 0 } : { tokens: 0 };
  const { word, budget } = EFFORTS[effort];
  if (isAdaptive) return { config: { type: "adaptive" }, output: { effort: word }, tokens: THINKING_TOKENS };
  if (BUDGET_MODELS.test(model)) return { config: { type: "enabled", budget_tokens: budget }, tokens: budget };
  return { tokens: 0 };
}

function formatOf({ outputFormat }: Generation): Anthropic.OutputConfig {
  if (outputFormat === undefined) return {};
  if (outputFormat.schema !== undefined) return { format: { type: "json_schema", schema: { ...outputFormat.schema } } };
  throw notSupported(ANTHROPIC, "JSON without a schema", "Give the schema of the answer.");
}

function toolChoiceOf({ tools, toolChoice, parallelToolCalls }: Generation): Pick<Options, "tool_choice"> {
  if (tools.length === 0) return {};
  const alone = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  switch (toolChoice?.kind) {
    case "none":
      return { tool_choice: { type: "none" } };
    case "any":
      return { tool_choice: { type: "any", ...alone } };
    case "tool":
      return { tool_choice: { type: "tool", name: fittingName(toolChoice.tool, TOOL_NAME), ...alone } };
    default:
      return parallelToolCalls === false ? { tool_choice: { type: "auto", ...alone } } : {};
  }
}

function serviceTierOf({ serviceTier }: Generation): Pick<Options, "service_tier"> {
  if (serviceTier === undefined) return {};
  if (serviceTier === "flex") throw notSupported(ANTHROPIC, "the service tier flex", "Take standard or priority.");
  return { service_tier: TIERS[serviceTier] };
}

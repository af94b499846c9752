import type { Effort, Generation } from "../../domain/generation.ts";
import { fittingName } from "../fitting-name.ts";
import { notSupported } from "../not-supported.ts";
import type { Dialect } from "./dialect.ts";

export const TOOL_NAME = /^[\w-]{1,64}$/;

const EFFORTS: Readonly<Record<Effort, string>> = {
  none: "none",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  maximum: "xhigh",
};
const TIERS = { standard: "default", flex: "flex", priority: "priority" } as const;
const LEAVE_OUT = "Leave it out, or take another provider.";

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a request asks for besides an answer, as this server takes it. An effort, a cache key and whose user it is are
 * preferences: a server that has no word for them is not told.
 * @throws ModelError `request_not_supported` for what would change the answer, or when it comes and what it costs
 */
export function chatOptions(provider: string, generation: Generation, dialect: Required<Dialect>): Fields {
  const { temperature, topP, stopSequences, cacheKey, userHash } = generation;
  if (stopSequences !== undefined && !dialect.takesStop) throw notSupported(provider, "stop sequences", LEAVE_OUT);
  return {
    ...(dialect.takesStreamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stopSequences === undefined ? {} : { stop: stopSequences }),
    ...toolChoiceOf(provider, generation, dialect),
    ...formatOf(provider, generation, dialect),
    ...effortOf(generation, dialect),
    ...(cacheKey === undefined || !dialect.takesCacheKey ? {} : { prompt_cache_key: cacheKey }),
    ...(userHash === undefined || dialect.userField === undefined ? {} : { [dialect.userField]: userHash }),
    ...serviceTierOf(provider, generation, dialect),
  };
}

/** Without tiers everything is answered as in the standard one. */
function serviceTierOf(provider: string, { serviceTier }: Generation, { takesServiceTier }: Required<Dialect>): Fields {
  if (serviceTier === undefined || (serviceTier === "standard" && !takesServiceTier)) return {};
  if (!takesServiceTier) throw notSupported(provider, `the service tier ${serviceTier}`, LEAVE_OUT);
  return { service_tier: TIERS[serviceTier] };
}

function toolChoiceOf(provider: string, { tools, toolChoice, parallelToolCalls }: Generation, dialect: Required<Dialect>): Fields {
  if (tools.length === 0) return {};
  if (parallelToolCalls === false && !dialect.takesParallel) throw notSupported(provider, "one tool call at a time", LEAVE_OUT);
  const parallel = parallelToolCalls === undefined || !dialect.takesParallel ? {} : { parallel_tool_calls: parallelToolCalls };
  switch (toolChoice?.kind) {
    case "none":
      return { tool_choice: "none", ...parallel };
    case "any":
      if (dialect.anyTool === undefined) throw notSupported(provider, "that some tool has to be called", LEAVE_OUT);
      return { tool_choice: dialect.anyTool, ...parallel };
    case "tool":
      if (!dialect.takesNamedTool)
        throw notSupported(provider, "that one tool has to be called", "Offer that tool alone, and ask for any.");
      return { tool_choice: { type: "function", function: { name: fittingName(toolChoice.tool, TOOL_NAME) } }, ...parallel };
    default:
      return parallel;
  }
}

function formatOf(provider: string, { outputFormat }: Generation, { json }: Required<Dialect>): Fields {
  if (outputFormat === undefined) return {};
  const { name, schema, strict } = outputFormat;
  if (schema === undefined && json === "schema") throw notSupported(provider, "JSON without a schema", "Give the schema of the answer.");
  if (schema === undefined) return { response_format: { type: "json_object" } };
  if (json === "object") throw notSupported(provider, "JSON by a schema", "Ask for JSON without one, and say in words what is wanted.");
  return { response_format: { type: "json_schema", json_schema: { name, schema, strict } } };
}

function effortOf({ effort }: Generation, dialect: Required<Dialect>): Fields {
  if (effort === undefined) return {};
  switch (dialect.effort) {
    case "reasoning_effort":
      return { reasoning_effort: EFFORTS[effort] };
    case "reasoning":
      return { reasoning: { effort: EFFORTS[effort] } };
    case "thinking":
      return { thinking: { type: effort === "none" ? "disabled" : "enabled" } };
    default:
      return {};
  }
}

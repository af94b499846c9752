import type { ModelDescription } from "./model.ts";

/** Below this tool definitions and results fill the context, or the model does not know what to do with them. */
const SMALLEST_TOOL_PARAMETERS = 3e9;
const SMALLEST_TOOL_CONTEXT = 8_192;
const SMALLEST_MID_PARAMETERS = 13e9;
const FRONTIER_CONTEXT = 128_000;
/** `7b`, `1.5B`, `8x7b`, `e4b`: a size as models' names have it, and no part of another word. */
const SIZE_IN_NAME = /(?:^|[^a-z0-9.])(?:(\d{1,3})x)?e?(\d{1,4}(?:\.\d{1,2})?)b(?![a-z0-9])/gi;

/** What is known of a model that somebody runs themselves. */
export interface OwnModel {
  readonly name: string;
  /** Undefined where the server does not tell: then its name may. */
  readonly parameters?: number;
  /** Tokens. */
  readonly contextWindow: number;
  /** False where the server says that it cannot be told of tools. */
  readonly takesTools?: boolean;
  /** True where the server says that it takes images. */
  readonly takesImages?: boolean;
}

/**
 * How much is made of a model that is not a hosted one, and whether it is handed tools: a small one is weak however large its
 * window, and one of which nothing is known is taken for what people mostly run. A model is never replaced by another one for it.
 */
export function classifyModel({
  name,
  parameters = sizeInName(name),
  contextWindow,
  takesTools = true,
  takesImages = false,
}: OwnModel): ModelDescription {
  const tier = tierOf(parameters, contextWindow);
  const isTooSmall = parameters !== undefined && parameters < SMALLEST_TOOL_PARAMETERS;
  const isChat = !takesTools || isTooSmall || contextWindow < SMALLEST_TOOL_CONTEXT;
  return { name, tier, capability: isChat ? "chat" : tier === "weak" ? "tool" : "agent", contextWindow, takesImages };
}

function tierOf(parameters: number | undefined, contextWindow: number): ModelDescription["tier"] {
  if (parameters === undefined) return "mid";
  if (parameters < SMALLEST_MID_PARAMETERS) return "weak";
  return contextWindow >= FRONTIER_CONTEXT ? "frontier" : "mid";
}

/** Of several sizes the largest: what follows it are the active ones (`30b-a3b`). */
function sizeInName(name: string): number | undefined {
  const sizes = [...name.slice(0, 256).matchAll(SIZE_IN_NAME)].map(
    ([, experts = "1", billions]) => Number(experts) * Number(billions) * 1e9,
  );
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

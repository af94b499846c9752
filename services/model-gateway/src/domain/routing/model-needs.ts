import type { Candidate } from "./candidate.ts";

/** What a model has to have; what is left out does not matter. */
export interface ModelNeeds {
  readonly tools?: boolean;
  readonly images?: boolean;
  /** PDF. */
  readonly documents?: boolean;
  /** Tokens, at least. */
  readonly contextWindow?: number;
  /** Runs on this machine. */
  readonly localOnly?: boolean;
  /** Nano-dollars a token, at most. */
  readonly inputPrice?: bigint;
  readonly outputPrice?: bigint;
}

export interface LeftOut {
  readonly id: string;
  /** A stable word. */
  readonly reason: string;
  readonly why: string;
}

/** The first thing that a candidate lacks; undefined where it has all. */
export function unmetNeed({ model, isLocal, rates }: Candidate, needs: ModelNeeds): LeftOut | undefined {
  const lacks = (reason: string, why: string): LeftOut => ({ id: model.id, reason, why });
  const { tools, images, documents, contextWindow = 0, localOnly, inputPrice, outputPrice } = needs;
  if (localOnly && !isLocal) return lacks("not_local", "does not run on this machine");
  if (model.isGuess && (tools || images || documents || contextWindow > 0))
    return lacks("model_capability_unknown", "its server does not tell what it can do");
  if (tools && model.capability === "chat") return lacks("no_tools", "cannot be handed tools");
  if (images && model.takesImages !== true) return lacks("no_images", "takes no images");
  if (documents && model.takesDocuments !== true) return lacks("no_documents", "takes no PDF");
  if (model.contextWindow < contextWindow)
    return lacks("context_too_small", `holds ${model.contextWindow} tokens, and ${contextWindow} are needed`);
  if (inputPrice === undefined && outputPrice === undefined) return undefined;
  if (rates === undefined) return lacks("price_unknown", "nobody knows what it costs");
  const isDear = (inputPrice !== undefined && rates.input > inputPrice) || (outputPrice !== undefined && rates.output > outputPrice);
  return isDear ? lacks("too_expensive", "costs more than the ceiling") : undefined;
}

/** Both together: the stricter of each. */
export function bothNeeds(one: ModelNeeds, other: ModelNeeds): ModelNeeds {
  return {
    tools: one.tools || other.tools,
    images: one.images || other.images,
    documents: one.documents || other.documents,
    contextWindow: Math.max(one.contextWindow ?? 0, other.contextWindow ?? 0),
    localOnly: one.localOnly || other.localOnly,
    inputPrice: least(one.inputPrice, other.inputPrice),
    outputPrice: least(one.outputPrice, other.outputPrice),
  };
}

function least(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

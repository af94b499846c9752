import { create } from "@bufbuild/protobuf";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import {
  ModelCapability,
  ModelTier,
  ToolDefinitionSchema,
  type Model,
  type ToolDefinition as ModelTool,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import type { SessionFacts } from "../session/session.ts";
import { GENERAL_AGENT, type RunAgent } from "../workers/run-agent.ts";
import { compilePrompt } from "./compile-prompt.ts";
import { offeredTools } from "./offered-tools.ts";
import type { Tier } from "./section.ts";

/** The beginning of every request of a session, the same to the byte, so that providers' caches hold. */
export interface Prefix {
  readonly systemPrompt: string;
  readonly tools: readonly ToolDefinition[];
  /** The same tools as a model is told of them. */
  readonly modelTools: readonly ModelTool[];
  /** SHA-256, hex, of prompt and tools. */
  readonly hash: string;
}

/** The same session facts, the same model and the same agent give the same bytes. */
export function compilePrefix(
  session: SessionFacts,
  model: Pick<Model, "tier" | "capability" | "contextWindow">,
  agent: RunAgent = GENERAL_AGENT,
): Prefix {
  const tier = tierOf(model.tier);
  const tools = offeredTools({
    tier,
    contextWindow: model.contextWindow,
    canCallTools: model.capability !== ModelCapability.CHAT,
    stateless: session.stateless,
    profile: agent.profile,
    isWorker: session.worker !== undefined,
  });
  const systemPrompt = compilePrompt({ session, tier, tools, agent });
  const described = tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchemaJson: JSON.stringify(tool.inputSchema),
  }));
  const modelTools = described.map((tool) => create(ToolDefinitionSchema, tool));
  return { systemPrompt, tools, modelTools, hash: sha256Hex(JSON.stringify([systemPrompt, described])) };
}

function tierOf(tier: ModelTier): Tier {
  if (tier === ModelTier.WEAK) return "weak";
  return tier === ModelTier.FRONTIER ? "frontier" : "mid";
}

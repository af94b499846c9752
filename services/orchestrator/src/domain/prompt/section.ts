import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import type { SessionFacts } from "../session/session.ts";
import type { RunAgent } from "../workers/run-agent.ts";

export type Tier = "weak" | "mid" | "frontier";

export interface PromptInput {
  readonly session: Pick<SessionFacts, "workspace" | "gitRepository" | "gitBranch" | "stateless">;
  readonly tier: Tier;
  readonly agent: RunAgent;
  /** Empty for a model that is handed none. */
  readonly tools: readonly ToolDefinition[];
}

/** One part of the system prompt. */
export interface Section {
  /** Models below it are spared the words. */
  readonly minimumTier: Tier;
  /** Whether it is for models with tools, without, or both. */
  readonly audience: "agent" | "chat" | "both";
  /** Empty: nothing to say. The same input gives the same bytes. */
  readonly render: (input: PromptInput) => string;
}

/** Of the tools that a model is offered those whose names fit, in their order: a section about them shows up only where they do. */
export function offered({ tools }: Pick<PromptInput, "tools">, name: RegExp): string[] {
  return tools.filter((tool) => name.test(tool.name)).map((tool) => tool.name);
}

import { isOffered } from "@hlvm/agents/narrow-settings";
import type { AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { transcriptTools } from "@hlvm/tools/transcript-tools";
import { wikiTools } from "@hlvm/tools/wiki-tools";
import { nativeTools } from "@hlvm/tools/native-tools";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import type { Tier } from "./section.ts";

/**
 * Small models choose badly among many tools: reading, searching, editing, the shell, what was put aside to fit their window,
 * and how a plan is proposed, without which plan mode has no end. Lists and questions are what they drift into in place of work.
 */
const CORE_TOOLS = new Set(
  ["read_file", "list_files", "write_file", "edit_file", "search_code", "shell_exec", "read_result"].concat("propose_plan"),
);

/** Tokens; in a smaller window the definitions of all tools, about 8,000, leave too little for the work. */
const ROOMY_WINDOW = 24_576;
const ROOMY_TOOLS: ReadonlySet<string> = new Set([...transcriptTools, ...wikiTools].map(({ name }) => name));

export interface ToolChoice {
  readonly tier: Tier;
  /** False for a model that cannot call tools. */
  readonly canCallTools: boolean;
  /** Tokens; 0 where it is not known. */
  readonly contextWindow: number;
  /** Nothing is remembered or recalled. */
  readonly stateless: boolean;
  readonly profile: AgentProfile;
  /** A worker proposes no plan: whoever accepts one lets its parent's run go on. */
  readonly isWorker: boolean;
}

/** The tools that a model is shown, in an order that never changes. */
export function offeredTools({ tier, contextWindow, canCallTools, stateless, profile, isWorker }: ToolChoice): readonly ToolDefinition[] {
  if (!canCallTools) return [];
  return nativeTools
    .filter((tool) => tier !== "weak" || CORE_TOOLS.has(tool.name))
    .filter((tool) => contextWindow === 0 || contextWindow >= ROOMY_WINDOW || !ROOMY_TOOLS.has(tool.name))
    .filter((tool) => isOffered(profile, tool.name))
    .filter((tool) => !isWorker || tool.asksPerson !== "plan")
    .filter((tool) => !stateless || tool.executor !== "memory");
}

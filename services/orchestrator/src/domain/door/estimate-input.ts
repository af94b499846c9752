import type { Message, ToolDefinition } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { estimatePart, estimateTools } from "../context/estimate-tokens.ts";

/** About how many tokens a request takes. */
export function estimateInput(messages: readonly Message[], tools: readonly ToolDefinition[]): number {
  return estimateTools(tools) + messages.reduce((sum, { parts }) => sum + parts.reduce((all, part) => all + estimatePart(part), 0), 0);
}

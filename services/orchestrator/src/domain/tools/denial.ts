import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";
import type { ToolCall } from "../loop/ports.ts";
import { failedResult } from "./tool-result.ts";

const UNANSWERED = {
  plan: "The plan is not accepted, so nothing may be changed. Where the user said what they want instead, propose another plan; else end your turn with the plan as your answer.",
  question: "Go on without the answer: take the most likely meaning, and say in your final answer what you assumed. Do not ask again.",
};

/** What the model is told of a call that was not allowed, or of a question that nobody answered. */
export function denial({ tool }: ToolCall, why: string): ToolResult {
  const asks = findNativeTool(tool)?.asksPerson;
  return failedResult(
    "permission_denied",
    asks === undefined
      ? `${why.trim()}\n${tool} did not run. Do not try it again and do not look for a way around; go on without it, or tell the user what you could not do.`
      : `${why.trim()}\n${UNANSWERED[asks]}`,
  );
}

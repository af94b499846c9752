import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ToolCall } from "../loop/ports.ts";
import { failedResult } from "./tool-result.ts";

/** What the model is told of a call that was not allowed. */
export function denial({ tool }: ToolCall, why: string): ToolResult {
  return failedResult(
    "permission_denied",
    `${why.trim()}\n${tool} did not run. Do not try it again and do not look for a way around; go on without it, or tell the user what you could not do.`,
  );
}

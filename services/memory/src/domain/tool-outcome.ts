import type { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";

/** What a tool call came to. */
export interface ToolOutcome {
  readonly success: boolean;
  /** What the model reads. */
  readonly content: string;
  /** One line for people. */
  readonly summary: string;
  /** Empty on success; else a word of hlvm.tool.v1.ToolResult. */
  readonly errorCode: string;
  /** Lower than what memory holds is trusted otherwise. */
  readonly trust?: Trust;
}

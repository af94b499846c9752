import { create } from "@bufbuild/protobuf";
import { ToolResultSchema, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { toolErrorCodeWords } from "@hlvm/proto/hlvm/tool/v1/tool_words";

/** What the model reads of a call that did not run, or of which no result came back. */
export function failedResult(errorCode: (typeof toolErrorCodeWords)[number], content: string, durationMilliseconds = 0): ToolResult {
  return create(ToolResultSchema, {
    success: false,
    content,
    summary: content.split("\n", 1)[0]!.slice(0, 200),
    errorCode,
    durationMilliseconds: Math.round(durationMilliseconds),
    resultBytes: BigInt(Buffer.byteLength(content)),
  });
}

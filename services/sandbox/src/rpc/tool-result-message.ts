import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ToolResultSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ToolResult } from "../domain/tool-event.ts";

/** The wire form of a result. */
export function toolResultMessage({ heldChange, ...result }: ToolResult): MessageInitShape<typeof ToolResultSchema> {
  const { change_id: changeId, paths = [], diff } = heldChange ?? {};
  const held = heldChange === undefined ? {} : { heldChange: { changeId, paths: [...paths], diff } };
  return { ...result, resultBytes: BigInt(result.resultBytes), ...held };
}

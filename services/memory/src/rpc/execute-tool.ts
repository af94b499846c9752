import type { HandlerContext } from "@connectrpc/connect";
import type { ExecuteToolRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { executeTool, type ToolPorts } from "../domain/execute-tool.ts";
import type { FactPorts } from "../domain/projects.ts";
import { viewerOf } from "./viewer-of.ts";

export function executeToolHandler(ports: ToolPorts & FactPorts) {
  return async (request: ExecuteToolRequest, context: HandlerContext) => {
    const { signal } = callContext(context);
    const begun = performance.now();
    const outcome = await executeTool(
      ports,
      await viewerOf(context, ports.projects, request.project),
      request.call!,
      request.grant,
      signal,
    );
    return {
      result: {
        ...outcome,
        durationMilliseconds: Math.round(performance.now() - begun),
        resultBytes: BigInt(Buffer.byteLength(outcome.content)),
        truncated: false,
      },
    };
  };
}

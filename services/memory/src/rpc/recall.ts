import type { HandlerContext } from "@connectrpc/connect";
import type { RecallRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { recall } from "../domain/recall.ts";
import type { FactPorts } from "../domain/projects.ts";
import type { SearchPorts } from "../domain/search-facts.ts";
import { encodeFact, encodeSource } from "./fact-codec.ts";
import { viewerOf } from "./viewer-of.ts";

export function recallHandler(ports: SearchPorts & FactPorts) {
  return async (request: RecallRequest, context: HandlerContext) => {
    const { signal } = callContext(context);
    const recalled = await recall(ports, await viewerOf(context, ports.projects, request.project), request.query, signal);
    return {
      facts: recalled.facts.map(encodeFact),
      moreExist: recalled.moreExist,
      source: encodeSource(recalled.source),
      notice: recalled.notice,
    };
  };
}

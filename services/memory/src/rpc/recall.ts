import type { HandlerContext } from "@connectrpc/connect";
import type { RecallRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { recall } from "../domain/recall.ts";
import type { FactPorts } from "../domain/projects.ts";
import type { SearchPorts } from "../domain/search-facts.ts";
import { recordRecall } from "../domain/usage/record-recall.ts";
import type { UsageLog } from "../domain/usage/usage-log.ts";
import { encodeFact, encodeSource } from "./fact-codec.ts";
import { viewerOf } from "./viewer-of.ts";

export function recallHandler(ports: SearchPorts & FactPorts & { readonly usage: UsageLog }) {
  return async (request: RecallRequest, context: HandlerContext) => {
    const { signal } = callContext(context);
    const begun = performance.now();
    const viewer = await viewerOf(context, ports.projects, request.project);
    const { query, sessionId, runId } = request;
    const recalled = await recall(ports, viewer, query, signal);
    await recordRecall(ports.usage, viewer, { kind: "run", query, sessionId, runId, begun }, recalled.facts);
    return {
      facts: recalled.facts.map(encodeFact),
      moreExist: recalled.moreExist,
      source: encodeSource(recalled.source),
      notice: recalled.notice,
    };
  };
}

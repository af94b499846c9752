import type { HandlerContext } from "@connectrpc/connect";
import type { WatchFactsRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { FactPorts } from "../domain/projects.ts";
import { watchFacts } from "../domain/watch-facts.ts";
import { decodeFilter, encodeChange } from "./fact-change-codec.ts";
import { decodeHeads, encodeHeads, type Question } from "./question-token.ts";
import { viewerOf } from "./viewer-of.ts";

export function watchFactsHandler({ store, projects }: FactPorts) {
  return async function* ({ filter, cursor }: WatchFactsRequest, context: HandlerContext) {
    const { signal } = callContext(context);
    const viewer = await viewerOf(context, projects, filter?.project ?? "");
    const question: Question = { method: "watch", viewer, filter: decodeFilter(filter) };
    const from = decodeHeads(question, cursor);
    for await (const { changes, heads } of watchFacts(store, viewer, { filter: question.filter, from, signal }))
      yield { changes: changes.map(encodeChange), cursor: encodeHeads(question, heads) };
  };
}

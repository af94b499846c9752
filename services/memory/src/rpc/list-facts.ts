import type { HandlerContext } from "@connectrpc/connect";
import type { ListFactChangesRequest, ListFactsRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { FactPorts } from "../domain/projects.ts";
import { decodeFilter, encodeChange } from "./fact-change-codec.ts";
import { encodeFact } from "./fact-codec.ts";
import { decodePlace, encodeHeads, encodePlace, type Question } from "./question-token.ts";
import { viewerOf } from "./viewer-of.ts";

const DEFAULT_LIMIT = 50;

export function listFactsHandler({ store, projects }: FactPorts) {
  return async ({ filter, withEnded, limit, pageToken, pinned }: ListFactsRequest, context: HandlerContext) => {
    const viewer = await viewerOf(context, projects, filter?.project ?? "");
    const question: Question = { method: withEnded ? "ended" : "facts", viewer, filter: { ...decodeFilter(filter), pinned } };
    const before = decodePlace(question, pageToken);
    const page = await store.inScope(viewer, ({ history }) => history.facts(question.filter, withEnded, limit || DEFAULT_LIMIT, before));
    return { facts: page.items.map(encodeFact), nextPageToken: encodePlace(question, page.end) };
  };
}

export function listFactChangesHandler({ store, projects }: FactPorts) {
  return async ({ filter, limit, pageToken }: ListFactChangesRequest, context: HandlerContext) => {
    const viewer = await viewerOf(context, projects, filter?.project ?? "");
    const question: Question = { method: "changes", viewer, filter: decodeFilter(filter) };
    const before = decodePlace(question, pageToken);
    return store.inScope(viewer, async ({ history }) => {
      // Read before the changes: what is committed in between comes twice rather than not at all.
      const cursor = before === undefined ? encodeHeads({ ...question, method: "watch" }, await history.heads()) : "";
      const page = await history.changes(question.filter, limit || DEFAULT_LIMIT, before);
      return { changes: page.items.map(encodeChange), nextPageToken: encodePlace(question, page.end), cursor };
    });
  };
}

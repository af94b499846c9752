import type { HandlerContext } from "@connectrpc/connect";
import type { SearchFactsRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { FactPorts } from "../domain/projects.ts";
import { searchFacts, type SearchPorts } from "../domain/search-facts.ts";
import { encodeFact, encodeSource } from "./fact-codec.ts";
import { viewerOf } from "./viewer-of.ts";

const DEFAULT_LIMIT = 10;

export function searchFactsHandler(ports: SearchPorts & FactPorts) {
  return async (request: SearchFactsRequest, context: HandlerContext) => {
    const { signal } = callContext(context);
    const { facts, source, notice } = await searchFacts(
      ports,
      await viewerOf(context, ports.projects, request.project),
      request.query,
      signal,
    );
    return {
      facts: facts.slice(0, request.limit || DEFAULT_LIMIT).map(({ fact, score }) => ({ fact: encodeFact(fact), score })),
      source: encodeSource(source),
      notice,
    };
  };
}

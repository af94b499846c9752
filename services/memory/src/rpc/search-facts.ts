import type { HandlerContext } from "@connectrpc/connect";
import type { SearchFactsRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { FactPorts } from "../domain/projects.ts";
import { searchFacts, type RankedFact, type SearchPorts } from "../domain/search-facts.ts";
import { MINIMUM_COVERAGE } from "../domain/recall.ts";
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
      facts: facts
        .slice(0, request.limit || DEFAULT_LIMIT)
        .map((found) => ({ fact: encodeFact(found.fact), score: found.score, parts: encodeParts(found) })),
      source: encodeSource(source),
      notice,
    };
  };
}

function encodeParts({ parts, coverage }: RankedFact) {
  const terms = Object.entries(parts.terms)
    .map(([term, score]) => ({ term, score }))
    .sort((a, b) => b.score - a.score);
  return { ...parts, terms, coverage, gate: MINIMUM_COVERAGE };
}

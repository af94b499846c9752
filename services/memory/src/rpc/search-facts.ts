import type { HandlerContext } from "@connectrpc/connect";
import type { SearchFactsRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { FactPorts } from "../domain/projects.ts";
import { MINIMUM_COVERAGE } from "../domain/recall.ts";
import { searchFacts, type RankedFact, type SearchPorts } from "../domain/search-facts.ts";
import { recordRecall } from "../domain/usage/record-recall.ts";
import type { UsageLog } from "../domain/usage/usage-log.ts";
import { encodeFact, encodeSource } from "./fact-codec.ts";
import { viewerOf } from "./viewer-of.ts";

const DEFAULT_LIMIT = 10;

export function searchFactsHandler(ports: SearchPorts & FactPorts & { readonly usage: UsageLog }) {
  return async (request: SearchFactsRequest, context: HandlerContext) => {
    const { signal } = callContext(context);
    const begun = performance.now();
    const viewer = await viewerOf(context, ports.projects, request.project);
    const { query } = request;
    const { facts, source, notice } = await searchFacts(ports, viewer, { query, limit: request.limit || DEFAULT_LIMIT }, signal);
    const asked = { kind: "search", query, sessionId: "", runId: "", begun } as const;
    const shownFacts = facts.map(({ fact }) => fact);
    if (!request.unrecorded) await recordRecall(ports.usage, viewer, asked, shownFacts);
    return {
      facts: facts.map((found) => ({ fact: encodeFact(found.fact), score: found.score, parts: encodeParts(found) })),
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

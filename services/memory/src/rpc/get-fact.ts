import type { HandlerContext } from "@connectrpc/connect";
import type { GetFactRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { FactPorts } from "../domain/projects.ts";
import { seenFact } from "../domain/valid-fact.ts";
import { encodeChange } from "./fact-change-codec.ts";
import { encodeFact } from "./fact-codec.ts";
import { viewerOf } from "./viewer-of.ts";

const MOST_CHANGES = 50;

export function getFactHandler({ store, projects }: FactPorts) {
  return async ({ factId, project }: GetFactRequest, context: HandlerContext) => {
    const viewer = await viewerOf(context, projects, project);
    return store.inScope(viewer, async (facts) => {
      const fact = await seenFact(facts, factId);
      const changes = await facts.history.threadOf(factId, MOST_CHANGES + 1);
      return {
        fact: encodeFact(fact),
        changes: changes.slice(0, MOST_CHANGES).map(encodeChange),
        moreExist: changes.length > MOST_CHANGES,
      };
    });
  };
}

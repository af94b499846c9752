import type { HandlerContext } from "@connectrpc/connect";
import type { EditFactRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { Fact } from "../domain/fact.ts";
import type { ScopedFacts } from "../domain/fact-store.ts";
import type { FactPorts } from "../domain/projects.ts";
import { pinFact } from "../domain/pin-fact.ts";
import { removeFact } from "../domain/remove-fact.ts";
import { PERSON, replaceFact } from "../domain/replace-fact.ts";
import type { Viewer } from "../domain/viewer.ts";
import { encodeFact } from "./fact-codec.ts";
import { personsViewer } from "./viewer-of.ts";

export function editFactHandler({ store, projects }: FactPorts) {
  return async (request: EditFactRequest, context: HandlerContext) => {
    const viewer = await personsViewer(context, projects, request.project);
    return { fact: encodeFact(await store.inScope(viewer, (facts) => edit(facts, viewer, request))) };
  };
}

async function edit(facts: ScopedFacts, viewer: Viewer, { factId, change }: EditFactRequest): Promise<Fact> {
  if (change.case === "pinned") return pinFact(facts, viewer, factId, change.value);
  if (change.case !== "replacementText") return removeFact(facts, viewer, factId, PERSON);
  const replaced = await replaceFact(facts, viewer, factId, change.value, PERSON);
  return replaced.fact;
}

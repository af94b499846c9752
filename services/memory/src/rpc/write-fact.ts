import type { HandlerContext } from "@connectrpc/connect";
import type { WriteFactRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { FactPorts } from "../domain/projects.ts";
import { writeFact } from "../domain/write-fact.ts";
import { decodeScope, decodeType, encodeFact } from "./fact-codec.ts";
import { personsViewer } from "./viewer-of.ts";

export function writeFactHandler({ store, projects }: FactPorts) {
  return async (request: WriteFactRequest, context: HandlerContext) => {
    const viewer = await personsViewer(context, projects, request.project);
    const draft = {
      text: request.text,
      category: request.category,
      subject: request.subject,
      predicate: request.predicate,
      tags: request.tags,
      pinned: request.pinned,
      type: decodeType(request.type),
      scope: decodeScope(request.scope),
      origin: "user-stated",
      sourceSessionId: "",
    } as const;
    const { fact, superseded } = await store.inScope(viewer, (facts) => writeFact(facts, viewer, draft));
    return { fact: encodeFact(fact), supersededFactIds: superseded.map((old) => old.id) };
  };
}

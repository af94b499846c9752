import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { WriteOutcome, type FactToWrite, type WriteFactsRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { FactPorts } from "../domain/projects.ts";
import type { FactDraft } from "../domain/write-fact.ts";
import { writeFacts, type WrittenFact } from "../domain/write-facts.ts";
import { decodeOrigin, decodeScope, decodeType } from "./fact-codec.ts";
import { personsViewer } from "./viewer-of.ts";

const OUTCOMES: Readonly<Record<WrittenFact["outcome"], WriteOutcome>> = {
  written: WriteOutcome.WRITTEN,
  known: WriteOutcome.KNOWN,
  replaced: WriteOutcome.REPLACED,
  proposed: WriteOutcome.PROPOSED,
  refused: WriteOutcome.REFUSED,
};

export function writeFactsHandler({ store, projects }: FactPorts) {
  return async (request: WriteFactsRequest, context: HandlerContext) => {
    const viewer = await personsViewer(context, projects, request.project);
    const written = await store.inScope(viewer, (facts) => writeFacts(facts, viewer, request.facts.map(decodeDraft)));
    return { facts: written.map(({ outcome, ...fact }) => ({ ...fact, outcome: OUTCOMES[outcome] })) };
  };
}

function decodeDraft(fact: FactToWrite): FactDraft {
  const { text, category, subject, predicate, tags, sourceSessionId, sourceOrdinal, actor } = fact;
  return {
    text,
    category,
    subject,
    predicate,
    tags,
    sourceSessionId,
    sourceOrdinal,
    actor,
    pinned: false,
    type: decodeType(fact.type),
    scope: decodeScope(fact.scope),
    origin: decodeOrigin(fact.origin) ?? "user-stated",
    saidAt: fact.saidAt && timestampDate(fact.saidAt),
  };
}

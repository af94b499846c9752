import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  FactChangeKind as EncodedKind,
  FactChangeSchema,
  type FactChange as EncodedChange,
  type FactFilter as EncodedFilter,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { FactChange, FactChangeKind } from "../domain/fact-change.ts";
import type { FactFilter } from "../domain/fact-history.ts";
import { decodeOrigin, decodeScope, decodeType, encodeFact } from "./fact-codec.ts";

const KINDS: Readonly<Record<FactChangeKind, EncodedKind>> = {
  written: EncodedKind.WRITTEN,
  replaced: EncodedKind.REPLACED,
  ended: EncodedKind.ENDED,
  pinned: EncodedKind.PINNED,
  unpinned: EncodedKind.UNPINNED,
  undone: EncodedKind.UNDONE,
  proposed: EncodedKind.PROPOSED,
  accepted: EncodedKind.ACCEPTED,
  rejected: EncodedKind.REJECTED,
};

export function encodeChange(change: FactChange): EncodedChange {
  const { id, kind, at, principal, sessionId, runId, callId, fact, others, undoes } = change;
  return create(FactChangeSchema, {
    changeId: id,
    kind: KINDS[kind],
    at: timestampFromDate(at),
    principal,
    sessionId,
    runId,
    callId,
    fact: encodeFact(fact),
    others: others.map(encodeFact),
    undoneChangeId: undoes?.id,
    undoneKind: undoes === undefined ? undefined : KINDS[undoes.kind],
  });
}

export function decodeFilter(filter: EncodedFilter | undefined): FactFilter {
  return {
    scope: filter && decodeScope(filter.scope),
    origin: filter && decodeOrigin(filter.origin),
    type: filter && decodeType(filter.type),
    category: filter?.category ?? "",
    principal: filter?.principal ?? "",
    since: filter?.since && timestampDate(filter.since),
    until: filter?.until && timestampDate(filter.until),
  };
}

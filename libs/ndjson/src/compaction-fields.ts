import { CompactionCauseSchema, SummaryMethodSchema, type Compaction, type FoldedResult } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { enumWord } from "./enum-word.ts";
import type { JsonObject } from "./json-object.ts";

/** What a compaction folded, what it left, and what it saved. */
export function compactionFields(value: Compaction): JsonObject {
  return {
    fromSequence: Number(value.fromSequence),
    toSequence: Number(value.toSequence),
    cause: enumWord(CompactionCauseSchema, value.cause),
    method: enumWord(SummaryMethodSchema, value.method),
    methodReason: value.methodReason,
    summary: value.summary,
    keptSequences: value.keptSequences.map(Number),
    pointers: value.results.map(foldedResult),
    putAside: value.putAside.map(foldedResult),
    tokensBefore: value.tokensBefore,
    tokensAfter: value.tokensAfter,
    turns: value.turns,
    results: value.resultCount,
  };
}

function foldedResult({ sequence, tool, argumentsSummary, length }: FoldedResult): JsonObject {
  return { sequence: Number(sequence), name: tool, argsSummary: argumentsSummary, characters: length };
}

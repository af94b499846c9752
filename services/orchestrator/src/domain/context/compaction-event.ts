import { create } from "@bufbuild/protobuf";
import { CompactionSchema, type Compaction, type CompactionCause } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Conversation } from "../fold/conversation.ts";
import type { CompactionPlan } from "./plan-compaction.ts";
import type { ContextSummary } from "./summarize-context.ts";

/**
 * What the log says of a compaction, all but the tokens before and after.
 * @param before the conversation as it was, folded from the log
 */
export function compactionEvent(plan: CompactionPlan, summary: ContextSummary, before: Conversation, cause: CompactionCause): Compaction {
  const former = before.compaction;
  const isFolding = plan.folded.length > 0;
  const turns = plan.folded.filter(({ isTurn }) => isTurn).length;
  const resultCount = plan.folded.reduce((sum, { parts }) => sum + parts.filter(({ provenance }) => provenance.result).length, 0);
  return create(CompactionSchema, {
    fromSequence: isFolding || former !== undefined ? plan.fromSequence : 0n,
    toSequence: plan.toSequence,
    cause,
    method: summary.method,
    methodReason: summary.methodReason,
    summary: summary.text,
    keptSequences: [...plan.keptSequences],
    results: [...plan.results],
    putAside: [...plan.putAside],
    turns: (former?.turns ?? 0) + turns,
    resultCount: (former?.resultCount ?? 0) + resultCount,
    trustFloor: before.floor,
  });
}

/** Where only results are put aside the summary before stays. */
export function formerSummary({ compaction }: Conversation): ContextSummary {
  const { summary: text = "", method = 0, methodReason = "" } = compaction ?? {};
  return { text, method, methodReason };
}

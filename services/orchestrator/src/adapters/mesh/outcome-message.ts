import { create } from "@bufbuild/protobuf";
import { RecordOutcomeRequestSchema, type RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { Outcome } from "../../domain/loop/ports.ts";

/** In characters, as the contract has it. */
const SUMMARY_LENGTH = 2_000;

/** What came of a call, as it is told for the audit log. */
export function outcomeMessage(outcome: Outcome): RecordOutcomeRequest {
  return create(RecordOutcomeRequestSchema, { ...outcome, summary: outcome.summary.slice(0, SUMMARY_LENGTH) });
}

import { enumWord } from "@hlvm/ndjson/enum-word";
import { isPending } from "@hlvm/ndjson/is-pending";
import { AuditKind, AuditKindSchema, OutcomeStatus, OutcomeStatusSchema, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, DecidingStepSchema, Decision, DecisionSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { localTime } from "../output/local-time.ts";

/** Of an event that is no decision: a model's call, a login. */
const NOT_DECIDED = "-";

export function outcomeWord(event: AuditEvent): string {
  if (isPending(event)) return "pending";
  return event.outcome === OutcomeStatus.UNSPECIFIED ? "" : enumWord(OutcomeStatusSchema, event.outcome);
}

/** Cells of a table: time, who, tool, decision, step, rule, outcome, arguments. */
export function eventRow(event: AuditEvent): string[] {
  const { principal, tool, decision, step, rule, argumentsJson } = event;
  return [
    localTime(event.at),
    principal,
    tool,
    decision === Decision.UNSPECIFIED ? NOT_DECIDED : enumWord(DecisionSchema, decision),
    step === DecidingStep.UNSPECIFIED ? NOT_DECIDED : enumWord(DecidingStepSchema, step),
    rule,
    outcomeWord(event),
    argumentsJson,
  ];
}

/** Cells of a table of events of several kinds: time, kind, who, tool, what was decided or came of it, why, arguments. */
export function storyRow(event: AuditEvent): string[] {
  const { at, kind, principal, tool, decision, rule, reason, argumentsJson, outcomeSummary, query } = event;
  const isOutcome = kind === AuditKind.OUTCOME;
  const result = isOutcome ? outcomeWord(event) : decision === Decision.UNSPECIFIED ? "" : enumWord(DecisionSchema, decision);
  const what = [argumentsJson, isOutcome ? outcomeSummary : "", query].find((text) => text !== "") ?? "";
  return [localTime(at), enumWord(AuditKindSchema, kind), principal, tool, result, rule === "" ? reason : rule, what];
}

export const STORY_HEADINGS = ["TIME", "EVENT", "WHO", "TOOL", "RESULT", "RULE", "ARGUMENTS"] as const;

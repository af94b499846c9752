import { enumWord } from "@hlvm/ndjson/enum-word";
import { OutcomeStatus, OutcomeStatusSchema } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { genAi, genAiMetric, genAiOperation } from "@hlvm/telemetry/gen-ai-names";
import { durationHistogram } from "@hlvm/telemetry/instrument";
import { failSpan, inSpan } from "@hlvm/telemetry/span";
import type { Executed } from "./execute-call.ts";
import type { ReadyCall } from "./prepare-call.ts";

const duration = durationHistogram(genAiMetric.executeToolDuration, "How long granted tool calls take, by tool and outcome.");

/** A granted call as a span. Its tool is named as it is defined here: what a model writes would be a label without bounds. */
export function observeTool({ call, definition }: ReadyCall, execute: () => Promise<Executed>): Promise<Executed> {
  const attributes = {
    [genAi.operationName]: genAiOperation.executeTool,
    [genAi.toolName]: definition.name,
    [genAi.toolCallId]: call.callId,
  };
  const startedAt = performance.now();
  return inSpan(`${genAiOperation.executeTool} ${definition.name}`, { attributes }, async (span) => {
    const executed = await execute();
    const outcome = enumWord(OutcomeStatusSchema, executed.status);
    span.setAttribute("hlvm.outcome", outcome);
    if (executed.status !== OutcomeStatus.SUCCEEDED) failSpan(span, outcome);
    duration(performance.now() - startedAt, { [genAi.toolName]: definition.name, outcome });
    return executed;
  });
}

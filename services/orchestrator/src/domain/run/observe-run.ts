import { counter, durationHistogram, upDownCounter } from "@hlvm/telemetry/instrument";
import { genAi, genAiMetric, genAiOperation } from "@hlvm/telemetry/gen-ai-names";
import { failSpan, inSpan } from "@hlvm/telemetry/span";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { RunProgress } from "../loop/run-progress.ts";
import type { BegunRun } from "./begun-run.ts";

const AGENT = "hlvm";

const started = counter("hlvm.runs.started", "Runs begun by this process.", "{run}");
const takenOver = counter("hlvm.runs.taken_over", "Runs gone on with that another process had held.", "{run}");
const handedOver = counter("hlvm.runs.handed_over", "Runs that this process left to another one.", "{run}");
const ended = counter("hlvm.runs.ended", "Runs that ended here, by the reason in their log.", "{run}");
const active = upDownCounter("hlvm.runs.active", "Runs under way in this process.", "{run}");
const duration = durationHistogram(genAiMetric.invokeAgentDuration, "How long runs take.");

export interface EndedRun {
  /** Undefined where the run was handed over to another process. */
  readonly reason?: StopReason;
  readonly progress: RunProgress;
  readonly cost: Cost;
}

/** A run as a span, which outlives the call that started it, and in the metrics of runs. */
export async function observeRun(begun: BegunRun, execute: () => Promise<EndedRun>): Promise<void> {
  const { sessionId, runId } = begun.lease;
  const attributes = {
    [genAi.operationName]: genAiOperation.invokeAgent,
    [genAi.agentName]: AGENT,
    [genAi.conversationId]: sessionId,
    [genAi.requestModel]: begun.model.id,
    "hlvm.run.id": runId,
  };
  const startedAt = performance.now();
  if (begun.past === undefined) started(1);
  else takenOver(1);
  active(1);
  try {
    await inSpan(`${genAiOperation.invokeAgent} ${AGENT}`, { attributes }, async (span) => {
      const { reason, progress, cost } = await execute();
      const word = reason === undefined ? "handed_over" : enumWord(StopReasonSchema, reason);
      span.setAttributes({
        "hlvm.run.stop_reason": word,
        "hlvm.run.turns": progress.turn,
        "hlvm.run.tool_calls": progress.toolCalls,
        "hlvm.run.cost_usd": Number(cost.nanoDollars) / 1e9,
        "hlvm.run.unpriced_calls": cost.unpricedCalls,
        [genAi.inputTokens]: Number(progress.usage.inputTokens),
        [genAi.outputTokens]: Number(progress.usage.outputTokens),
        [genAi.cacheReadTokens]: Number(progress.usage.cacheReadTokens),
      });
      if (reason === StopReason.ERROR) failSpan(span, word);
      if (reason === undefined) handedOver(1);
      else ended(1, { reason: word });
    });
  } finally {
    active(-1);
    duration(performance.now() - startedAt, { [genAi.agentName]: AGENT });
  }
}

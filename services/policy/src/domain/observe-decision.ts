import { durationHistogram } from "@hlvm/telemetry/instrument";
import { inSpan } from "@hlvm/telemetry/span";
import type { Decided } from "./decide-call.ts";

const duration = durationHistogram("hlvm.decide.duration", "How long decisions on tool calls take, until they are on record.");

/** A decision as a span: what was decided and by which step, nothing of the call itself. */
export function observeDecision(decide: () => Promise<Decided>): Promise<Decided> {
  const startedAt = performance.now();
  return inSpan("hlvm.decide", {}, async (span) => {
    const decided = await decide();
    const { decision, step } = decided.verdict;
    span.setAttributes({ "hlvm.decision": decision, "hlvm.step": step });
    duration(performance.now() - startedAt, { decision, step });
    return decided;
  });
}

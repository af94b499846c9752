import { durationHistogram } from "@hlvm/telemetry/instrument";
import { inSpan } from "@hlvm/telemetry/span";
import type { Verdict } from "./verdict.ts";

const duration = durationHistogram("hlvm.decide.duration", "How long decisions on tool calls take, until they are on record.");

/** A decision as a span: what was decided and by which step, nothing of the call itself. */
export function observeDecision(decide: () => Promise<Verdict>): Promise<Verdict> {
  const startedAt = performance.now();
  return inSpan("hlvm.decide", {}, async (span) => {
    const verdict = await decide();
    const { decision, step } = verdict;
    span.setAttributes({ "hlvm.decision": decision, "hlvm.step": step });
    duration(performance.now() - startedAt, { decision, step });
    return verdict;
  });
}

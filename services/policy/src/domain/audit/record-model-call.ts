import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import type { Delegation } from "@hlvm/identity/delegation";
import type { OutcomeStatus } from "./audit-event.ts";
import type { AuditLog } from "./audit-log.ts";
import { redactText } from "./redact-text.ts";

export interface CalledModel {
  readonly callId: string;
  readonly door: string;
  readonly model: string;
  readonly status: OutcomeStatus;
  /** Why it did not succeed; empty where it did. */
  readonly reason: string;
  /** Tokens; undefined where none were counted. */
  readonly input?: bigint;
  readonly output?: bigint;
  readonly isEstimated: boolean;
  /** Nano-dollars; undefined where nobody knows the price. */
  readonly cost?: bigint;
  readonly durationMilliseconds: number;
}

/** Records a call that a program made of a model through a model door: who, with which token, what it took, and nothing of what was said. */
export function recordModelCall(log: AuditLog, delegation: Delegation, traceId: string, call: CalledModel): Promise<bigint> {
  const { principal, modelAccess } = delegation;
  const { callId, door, model, status, reason, input = 0n, output = 0n, isEstimated, cost, durationMilliseconds } = call;
  return log.appendChange({
    kind: "model_called",
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    callId,
    arguments: redactText(
      canonicalJson({
        door,
        model,
        token_id: modelAccess?.tokenId || "none",
        input_tokens: Number(input),
        output_tokens: Number(output),
        cost: cost === undefined ? "unknown" : Number(cost),
        ...(isEstimated ? { estimated: true } : {}),
      }),
    ),
    outcome: status,
    summary: reason,
    durationMilliseconds,
    traceId,
  });
}

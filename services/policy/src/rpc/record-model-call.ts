import type { ServiceImpl } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import type { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ModelDoorSchema } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { AuditLog } from "../domain/audit/audit-log.ts";
import { recordModelCall } from "../domain/audit/record-model-call.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { outcomes, wordOf } from "./words.ts";

export function recordModelCallMethod(audit: AuditLog): ServiceImpl<typeof AuditService>["recordModelCall"] {
  return async ({ callId, door, model, status, reason, usage, isEstimated, cost, durationMilliseconds }, context) => {
    const { delegation: given, traceId } = callContext(context);
    const delegation = demandDelegation(given, { runId: callId });
    refuseControlCharacters({ model, reason });
    const id = await recordModelCall(audit, delegation, traceId, {
      callId,
      door: enumWord(ModelDoorSchema, door),
      model,
      status: wordOf(outcomes, status) ?? "failed",
      reason,
      input: usage && usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      output: usage?.outputTokens,
      isEstimated,
      cost,
      durationMilliseconds,
    });
    return { id };
  };
}

import { create } from "@bufbuild/protobuf";
import type { Log } from "@hlvm/log/create-log";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { UsageSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { isAway } from "../loop/retry-while-away.ts";
import type { DoorCallStore, LostCall } from "./door-call-store.ts";
import type { ModelCallAudit } from "./door-models.ts";

export interface LostCallPorts {
  readonly calls: Pick<DoorCallStore, "claimLost" | "settle">;
  /** In the name of whom a delegation is of. @throws HlvmError */
  readonly auditFor: (delegation: string) => ModelCallAudit;
  readonly log: Log;
}

/**
 * Settles calls whose process ended by what was seen of them, once they are on record; those that cannot be recorded now come
 * again.
 */
export async function settleLostCalls({ calls, auditFor, log }: LostCallPorts): Promise<void> {
  for (let lost = await calls.claimLost(); lost !== undefined; lost = await calls.claimLost()) {
    try {
      await auditFor(lost.delegation).recordModelCall(recordOf(lost));
    } catch (cause) {
      if (isAway(cause)) throw cause;
      log.error({ err: cause, callId: lost.callId }, "a model call whose process ended is settled, and not on record");
    }
    await calls.settle(lost.callId, settledOf(lost));
  }
}

function recordOf({ callId, door, model, seen, milliseconds }: LostCall) {
  const usage = create(UsageSchema, { inputTokens: seen.input, outputTokens: seen.output });
  const status = OutcomeStatus.UNKNOWN;
  return {
    callId,
    door,
    model,
    status,
    reason: "process_ended",
    usage,
    isEstimated: true,
    cost: seen.cost,
    durationMilliseconds: milliseconds,
  };
}

function settledOf({ model, seen: { input, output, cost }, milliseconds }: LostCall) {
  const counted = { input, output, cacheRead: 0n, cacheWrite: 0n, reasoning: 0n, tokens: input + output };
  return { turn: 1, model, ...counted, cost, isEstimated: true, milliseconds };
}

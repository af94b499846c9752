import type { Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { ToolCall } from "../loop/ports.ts";

/** The log's entry of a verdict. */
export function permissionCheck({ callId, tool }: ToolCall, verdict: Partial<Verdict>): EventPayload {
  const { decision, step, rule, reason, approval } = verdict;
  return eventPayload("permissionCheck", { callId, tool, decision, step, rule, reason, approval });
}

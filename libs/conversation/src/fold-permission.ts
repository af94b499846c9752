import { create } from "@bufbuild/protobuf";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalSchema, DecidingStepSchema, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { PermissionCheck, WorkerPermission } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Conversation } from "./conversation.ts";
import { changeCall } from "./fold-call.ts";
import type { Base } from "./item.ts";

/** What policy said of a call: the question to a person, its answer, a refusal. */
export function foldPermission(conversation: Conversation, base: Base, check: PermissionCheck): void {
  const { callId, tool, decision, step, rule, reason } = check;
  if (decision === Decision.ASK && check.approval === undefined) return;
  if (decision === Decision.ASK) changeCall(conversation, callId, () => ({ state: "asked" }));
  askedOrAnswered(conversation, base, check, { workerSessionId: "", workerAgents: [] });
  if (decision === Decision.ALLOW) changeCall(conversation, callId, () => ({ state: "chosen" }));
  if (decision !== Decision.DENY) return;
  const deniedBy = `${enumWord(DecidingStepSchema, step)}${rule === "" ? "" : `, ${rule}`}`;
  changeCall(conversation, callId, () => ({ state: "denied", outcome: reason, deniedBy }), { base, tool });
}

/** The same of a worker's call, which has its item in the worker's own session. */
export function foldWorkerPermission(
  conversation: Conversation,
  base: Base,
  { check, childSessionId, agentTypes }: WorkerPermission,
): void {
  if (check === undefined) return;
  const worker = { workerSessionId: childSessionId, workerAgents: agentTypes };
  if (askedOrAnswered(conversation, base, check, worker) || check.decision !== Decision.DENY) return;
  const { callId, tool, rule, reason } = check;
  const approval = create(ApprovalSchema, { callId, tool, sessionId: childSessionId });
  conversation.push({ ...base, kind: "approval", tool, approval, state: "denied", outcome: rule || reason, ...worker });
}

/** @returns whether there is an item of it */
function askedOrAnswered(
  conversation: Conversation,
  base: Base,
  { callId, tool, decision, reason, rule, approval }: PermissionCheck,
  worker: { readonly workerSessionId: string; readonly workerAgents: readonly string[] },
): boolean {
  if (decision === Decision.ASK) {
    if (approval !== undefined) conversation.push({ ...base, kind: "approval", tool, approval, state: "pending", outcome: "", ...worker });
    return approval !== undefined;
  }
  return conversation.change(
    "approval",
    (item) => item.state === "pending" && item.approval.callId === callId && item.workerSessionId === worker.workerSessionId,
    () => ({ state: decision === Decision.ALLOW ? "approved" : "denied", outcome: rule || reason }),
  );
}

import { enumWord } from "@hlvm/ndjson/enum-word";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, StopReasonSchema, type RunStarted, type RunStopped } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Conversation, RunView } from "./conversation.ts";
import type { Base } from "./item.ts";

export function foldRunStarted(conversation: Conversation, { runId }: Base, { model, workspace, settings }: RunStarted): void {
  conversation.run = { ...newRun(runId), model, workspace, mode: settings?.mode ?? PermissionMode.UNSPECIFIED };
}

/** Whoever ends a run ends its questions, and what was open. */
export function foldRunStopped(conversation: Conversation, base: Base, stopped: RunStopped): void {
  const { reason, message, advice, usage, cost, text, turns, toolCalls, durationMilliseconds } = stopped;
  const { run = newRun(base.runId) } = conversation;
  const isOfRun = (item: { readonly runId: string }): boolean => item.runId === base.runId;
  conversation.changeAll(
    "approval",
    (item) => isOfRun(item) && item.state === "pending",
    () => ({ state: "unanswered", outcome: "The run ended before anybody answered." }),
  );
  for (const kind of ["assistant", "thinking"] as const)
    conversation.changeAll(
      kind,
      (item) => isOfRun(item) && item.isOpen,
      () => ({ isOpen: false }),
    );
  if (conversation.answeredRunId !== base.runId && text !== "")
    conversation.push({ ...base, key: `${base.key}-text`, kind: "assistant", text, isOpen: false, isCut: false });
  if (run.runId === base.runId) conversation.run = { ...run, stopReason: reason, usage, cost, turns, toolCalls, durationMilliseconds };
  if (reason === StopReason.COMPLETED) return;
  if (reason === StopReason.USER_CANCELLED)
    return conversation.push({ ...base, kind: "info", topic: "interruption", text: "Interrupted", detail: "", otherSessionId: "" });
  const said = message || `The run stopped: ${enumWord(StopReasonSchema, reason)}.`;
  conversation.push({ ...base, kind: "error", reason, message: said, advice });
}

function newRun(runId: string): RunView {
  return {
    runId,
    model: "",
    mode: PermissionMode.UNSPECIFIED,
    workspace: "",
    stopReason: undefined,
    usage: undefined,
    cost: undefined,
    turns: 0,
    toolCalls: 0,
    durationMilliseconds: 0,
  };
}

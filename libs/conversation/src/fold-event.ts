import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, StopReasonSchema, type Event, type PermissionCheck, type RunStopped } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { enumWord } from "@hlvm/ndjson/enum-word";
import type { Conversation } from "./conversation.ts";
import { foldCall, isOfCall } from "./fold-call.ts";
import { infoOf } from "./info-of.ts";

type Base = ReturnType<typeof baseOf>;

/** Folds one event into a conversation. One that it does not know becomes an item that says so, and never an error. */
export function foldEvent(conversation: Conversation, event: Event): void {
  const { payload, principal } = event;
  const base = baseOf(event);
  const isOfTurn = (item: { readonly runId: string; readonly turn: number }): boolean =>
    item.runId === event.runId && item.turn === event.turn;
  switch (payload.case) {
    case "userMessage": {
      const { text, attachments, author, queuedSequence } = payload.value;
      if (queuedSequence > 0n) conversation.remove(keyOf(queuedSequence));
      return conversation.push({ ...base, kind: "user", author: author || principal, text, attachments, isPending: false });
    }
    case "messageQueued":
      return conversation.push({ ...base, kind: "user", author: principal, text: payload.value.text, attachments: [], isPending: true });
    case "comment":
      return conversation.push({ ...base, kind: "comment", author: principal, text: payload.value.text });
    case "runStarted": {
      const { model, settings } = payload.value;
      const mode = settings?.mode ?? PermissionMode.UNSPECIFIED;
      conversation.run = { runId: event.runId, model, mode, stopReason: undefined, usage: undefined, cost: undefined };
      return;
    }
    case "thinking":
      // A turn begins again where the answer before it broke off on its way.
      conversation.change(
        "assistant",
        (item) => item.runId === event.runId && item.isOpen,
        () => ({ isOpen: false, isCut: true }),
      );
      return;
    case "reasoningUpdate": {
      const { text } = payload.value;
      const isOpen = (item: { readonly runId: string; readonly turn: number; readonly isOpen: boolean }): boolean =>
        isOfTurn(item) && item.isOpen;
      if (!conversation.change("thinking", isOpen, (item) => ({ text: item.text + text })))
        conversation.push({ ...base, kind: "thinking", text, isOpen: true });
      return;
    }
    case "messageDelta": {
      const { text } = payload.value;
      closeThinking(conversation, isOfTurn);
      const isOpen = (item: { readonly runId: string; readonly turn: number; readonly isOpen: boolean }): boolean =>
        isOfTurn(item) && item.isOpen;
      if (!conversation.change("assistant", isOpen, (item) => ({ text: item.text + text })))
        conversation.push({ ...base, kind: "assistant", text, isOpen: true, isCut: false });
      return;
    }
    case "assistantMessage": {
      const { text, thinking } = payload.value;
      const thoughts = thinking.map((piece) => piece.text).join("\n\n");
      if (!conversation.change("thinking", isOfTurn, (item) => ({ text: thoughts || item.text, isOpen: false })) && thoughts !== "")
        conversation.push({ ...base, key: `${base.key}-thinking`, kind: "thinking", text: thoughts, isOpen: false });
      const isOpen = (item: { readonly runId: string; readonly turn: number; readonly isCut: boolean }): boolean =>
        isOfTurn(item) && !item.isCut;
      if (!conversation.change("assistant", isOpen, () => ({ text, isOpen: false })) && text !== "")
        conversation.push({ ...base, kind: "assistant", text, isOpen: false, isCut: false });
      return;
    }
    case "toolSelected":
    case "toolStart":
    case "toolOutput":
    case "toolWaiting":
    case "toolEnd":
      return foldCall(conversation, base, payload);
    case "permissionCheck":
      return permissionCheck(conversation, base, payload.value, "");
    case "workerPermission": {
      const { check, childSessionId } = payload.value;
      if (check !== undefined) permissionCheck(conversation, base, check, childSessionId);
      return;
    }
    case "planCreated": {
      const { callId, text, steps } = payload.value;
      const views = steps.map((step) => ({ text: step, isCompleted: false }));
      const mode = PermissionMode.UNSPECIFIED;
      return conversation.push({ ...base, kind: "plan", callId, text, steps: views, state: "proposed", mode });
    }
    case "planAnswered": {
      const { callId, accepted, text, steps, mode } = payload.value;
      conversation.change(
        "plan",
        (item) => item.callId === callId,
        (item) =>
          accepted
            ? { state: "accepted", mode, text, steps: steps.map((step) => ({ text: step, isCompleted: false })) }
            : { state: "rejected", text: text === "" ? item.text : `${item.text}\n\nRejected: ${text}` },
      );
      return;
    }
    case "planStep": {
      const { index, completed } = payload.value;
      conversation.change(
        "plan",
        ({ runId, state }) => runId === event.runId && state === "accepted",
        ({ steps }) => ({ steps: steps.map((step, at) => (at === index - 1 ? { ...step, isCompleted: completed } : step)) }),
      );
      return;
    }
    case "todoUpdated":
      conversation.todo = payload.value.items;
      return;
    case "memoryActivity": {
      const { recalled, written, notice } = payload.value;
      if (recalled.length + written.length === 0 && notice === "") return;
      return conversation.push({ ...base, kind: "memory", recalled, written, notice });
    }
    case "usageUpdate":
      if (conversation.run?.runId === event.runId)
        conversation.run = { ...conversation.run, usage: payload.value.usage, cost: payload.value.cost };
      return;
    case "runStopped":
      return runStopped(conversation, base, payload.value);
    case "conversationUndone":
      conversation.removeAfter(payload.value.lastSequence);
      return conversation.push({ ...base, ...infoOf(event)! });
    default: {
      const info = infoOf(event);
      if (info !== undefined) conversation.push({ ...base, ...info });
    }
  }
}

function baseOf({ sequence, runId, turn, at }: Event) {
  return { key: keyOf(sequence), sequence, runId, turn, at: at && timestampDate(at) };
}

function keyOf(sequence: bigint): string {
  return String(sequence);
}

function closeThinking(conversation: Conversation, isOfTurn: (item: { readonly runId: string; readonly turn: number }) => boolean): void {
  conversation.change(
    "thinking",
    (item) => item.isOpen && isOfTurn(item),
    () => ({ isOpen: false }),
  );
}

function permissionCheck(conversation: Conversation, base: Base, check: PermissionCheck, workerSessionId: string): void {
  const { callId, decision, reason, rule, approval } = check;
  if (decision === Decision.ASK) {
    if (approval === undefined) return;
    setCallState(conversation, callId, "asked", "");
    return conversation.push({ ...base, kind: "approval", approval, state: "pending", outcome: "", workerSessionId });
  }
  const state = decision === Decision.ALLOW ? "approved" : "denied";
  conversation.change(
    "approval",
    (item) => item.state === "pending" && item.approval.callId === callId && item.workerSessionId === workerSessionId,
    () => ({ state, outcome: rule || reason }),
  );
  if (workerSessionId === "") setCallState(conversation, callId, decision === Decision.DENY ? "denied" : "chosen", reason);
}

function setCallState(conversation: Conversation, callId: string, state: "asked" | "denied" | "chosen", reason: string): void {
  conversation.change("tools", isOfCall(callId), ({ calls }) => ({
    calls: calls.map((call) => (call.callId === callId ? { ...call, state, outcome: state === "denied" ? reason : call.outcome } : call)),
  }));
}

function runStopped(conversation: Conversation, base: Base, { reason, message, advice, usage, cost, text }: RunStopped): void {
  const { run } = conversation;
  if (run?.runId === base.runId || run === undefined)
    conversation.run = {
      runId: base.runId,
      model: run?.model ?? "",
      mode: run?.mode ?? PermissionMode.UNSPECIFIED,
      stopReason: reason,
      usage,
      cost,
    };
  // Whoever ends a run ends its questions.
  conversation.items = conversation.items.map((item) => {
    if (item.runId !== base.runId) return item;
    if (item.kind === "approval" && item.state === "pending")
      return { ...item, state: "denied", outcome: "The run ended before anybody answered." };
    if ((item.kind === "assistant" || item.kind === "thinking") && item.isOpen) return { ...item, isOpen: false };
    return item;
  });
  const isSaid = conversation.items.some((item) => item.kind === "assistant" && item.runId === base.runId);
  if (!isSaid && text !== "") conversation.push({ ...base, key: `${base.key}-text`, kind: "assistant", text, isOpen: false, isCut: false });
  if (reason === StopReason.COMPLETED) return;
  if (reason === StopReason.USER_CANCELLED)
    return conversation.push({ ...base, kind: "info", text: "Interrupted", detail: "", otherSessionId: "" });
  const said = message || `The run stopped: ${enumWord(StopReasonSchema, reason)}.`;
  conversation.push({ ...base, kind: "error", reason, message: said, advice });
}

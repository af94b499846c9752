import { timestampDate } from "@bufbuild/protobuf/wkt";
import { InstructionState, type AssistantMessage, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Conversation } from "./conversation.ts";
import { foldCall } from "./fold-call.ts";
import { foldPermission, foldWorkerPermission } from "./fold-permission.ts";
import { foldRunStarted, foldRunStopped } from "./fold-run.ts";
import { foldWork } from "./fold-work.ts";
import { infoOf, resumed, servedBy } from "./info-of.ts";
import type { Base } from "./item.ts";

interface OfTurn {
  readonly runId: string;
  readonly turn: number;
  readonly isOpen: boolean;
}

/** Folds one event into a conversation. One that it does not know becomes an item that says so, and never an error. */
export function foldEvent(conversation: Conversation, event: Event): void {
  const { payload, principal } = event;
  const base = baseOf(event);
  switch (payload.case) {
    case "userMessage": {
      const { text, attachments, author, queuedSequence } = payload.value;
      const isSteering = queuedSequence > 0n;
      if (isSteering) conversation.remove(keyOf(queuedSequence));
      const said = { kind: "user", author: author || principal, text, attachments } as const;
      return conversation.push({ ...base, ...said, isPending: false, isSteering, interrupts: false });
    }
    case "messageQueued": {
      const { text, attachments, interrupts } = payload.value;
      return conversation.push({
        ...base,
        kind: "user",
        author: principal,
        text,
        attachments,
        isPending: true,
        isSteering: true,
        interrupts,
      });
    }
    case "runStarted":
      return foldRunStarted(conversation, base, payload.value);
    case "thinking":
      conversation.thinkingSequence = event.sequence;
      // A turn begins again where the answer before it broke off on its way.
      conversation.change(
        "assistant",
        (item) => item.runId === event.runId && item.isOpen,
        () => ({ isOpen: false, isCut: true }),
      );
      return;
    case "reasoningUpdate":
    case "messageDelta":
    case "assistantMessage":
      return foldText(conversation, base, payload);
    case "toolSelected":
    case "toolStart":
    case "toolOutput":
    case "toolWaiting":
    case "toolEnd":
      return foldCall(conversation, base, payload);
    case "permissionCheck":
      return foldPermission(conversation, base, payload.value);
    case "workerPermission":
      return foldWorkerPermission(conversation, base, payload.value);
    case "planCreated":
    case "planAnswered":
    case "planStep":
    case "workerSpawned":
    case "workerCompleted":
      return foldWork(conversation, base, payload);
    case "todoUpdated":
      conversation.todo = payload.value.items;
      return;
    case "reminder":
      conversation.reminder = { text: payload.value.text };
      return;
    case "turnStats":
      conversation.turnStats = payload.value;
      return;
    case "memoryActivity": {
      const { recalled, written, withheld, notice } = payload.value;
      if (recalled.length + written.length + withheld === 0 && notice === "") return;
      return conversation.push({ ...base, kind: "memory", recalled, written, withheld, notice });
    }
    case "comment":
      return conversation.push({ ...base, kind: "comment", author: principal, text: payload.value.text });
    case "instructionsLoaded": {
      const { files, workspace, notice } = payload.value;
      const known = files.filter(({ state }) => state !== InstructionState.UNSPECIFIED);
      if (known.length === 0 && notice === "") return;
      return conversation.push({ ...base, kind: "instructions", files: known, workspace, notice });
    }
    case "usageUpdate":
      if (conversation.run?.runId === event.runId)
        conversation.run = { ...conversation.run, usage: payload.value.usage, cost: payload.value.cost };
      return;
    case "runStopped":
      return foldRunStopped(conversation, base, payload.value);
    case "conversationUndone":
      conversation.removeAfter(payload.value.lastSequence);
      return conversation.push({ ...base, ...infoOf(event)! });
    default: {
      const info = infoOf(event);
      if (info !== undefined) conversation.push({ ...base, ...info });
    }
  }
}

/** What the model thinks and says: piece by piece, and then as a whole. */
function foldText(
  conversation: Conversation,
  base: Base,
  payload: Extract<Event["payload"], { case: "reasoningUpdate" | "messageDelta" | "assistantMessage" }>,
): void {
  const isOfTurn = ({ runId, turn }: OfTurn): boolean => runId === base.runId && turn === base.turn;
  const isOpen = (item: OfTurn): boolean => item.isOpen && isOfTurn(item);
  const { text } = payload.value;
  switch (payload.case) {
    case "reasoningUpdate":
      if (!conversation.change("thinking", isOpen, (item) => ({ text: item.text + text }), text))
        conversation.push({ ...base, kind: "thinking", text, isOpen: true });
      return;
    case "messageDelta":
      conversation.change("thinking", isOpen, () => ({ isOpen: false }));
      if (!conversation.change("assistant", isOpen, (item) => ({ text: item.text + text }), text))
        conversation.push({ ...base, kind: "assistant", text, isOpen: true, isCut: false });
      return;
    case "assistantMessage": {
      const thoughts = payload.value.thinking.map((piece) => piece.text).join("\n\n");
      if (!conversation.change("thinking", isOfTurn, (item) => ({ text: thoughts || item.text, isOpen: false })) && thoughts !== "")
        conversation.push({ ...base, key: `${base.key}-thinking`, kind: "thinking", text: thoughts, isOpen: false });
      if (!conversation.change("assistant", isOpen, () => ({ text, isOpen: false })) && text !== "")
        conversation.push({ ...base, kind: "assistant", text, isOpen: false, isCut: false });
      foldServed(conversation, base, payload.value);
      const wentOn = resumed(payload.value);
      if (wentOn !== undefined) conversation.push({ ...base, key: `${base.key}-resumed`, ...wentOn });
    }
  }
}

/** As long as the same model goes on answering in a run, that is said once. */
function foldServed(conversation: Conversation, base: Base, message: AssistantMessage): void {
  const { served: before } = conversation;
  const isSame = before.runId === base.runId && before.model === message.servedBy;
  conversation.served = { runId: base.runId, model: message.servedBy };
  const served = isSame ? undefined : servedBy(message);
  if (served !== undefined) conversation.push({ ...base, key: `${base.key}-served`, ...served });
}

function baseOf({ sequence, runId, turn, at }: Event): Base {
  return { key: keyOf(sequence), sequence, runId, turn, at: at && timestampDate(at) };
}

function keyOf(sequence: bigint): string {
  return String(sequence);
}

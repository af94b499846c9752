import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Conversation } from "./conversation.ts";
import type { Base, PlanStepView, WorkerItem } from "./item.ts";

type WorkPayload = Extract<Event["payload"], { case: "planCreated" | "planAnswered" | "planStep" | "workerSpawned" | "workerCompleted" }>;

/** Folds what is to be done: plans, and workers that do some of it. */
export function foldWork(conversation: Conversation, base: Base, { case: type, value }: WorkPayload): void {
  switch (type) {
    case "planCreated": {
      const { callId, text, steps } = value;
      const mode = PermissionMode.UNSPECIFIED;
      return conversation.push({ ...base, kind: "plan", callId, text, steps: open(steps), state: "proposed", rejection: "", mode });
    }
    case "planAnswered": {
      const { callId, accepted, text, steps, mode } = value;
      const answered = accepted
        ? ({ state: "accepted", mode, text, steps: open(steps) } as const)
        : ({ state: "rejected", rejection: text } as const);
      conversation.change(
        "plan",
        (item) => item.callId === callId,
        () => answered,
      );
      return;
    }
    case "planStep": {
      const { index, completed } = value;
      conversation.change(
        "plan",
        ({ runId, state }) => runId === base.runId && state === "accepted",
        ({ steps }) => ({ steps: steps.map((step, at) => (at === index - 1 ? { ...step, isCompleted: completed } : step)) }),
      );
      return;
    }
    case "workerSpawned": {
      const { agentType, task, childSessionId } = value;
      return conversation.push({ ...newWorker(base, childSessionId), agentType, task });
    }
    case "workerCompleted": {
      const { agentType, success, stopReason, turns, filesTouched, durationMilliseconds, usage, childSessionId } = value;
      const tokens = (usage?.inputTokens ?? 0n) + (usage?.outputTokens ?? 0n);
      const state = success ? "succeeded" : "failed";
      const ended = { agentType, state, stopReason, turns, filesTouched, durationMilliseconds, tokens } as const;
      const isOfSession = (item: WorkerItem): boolean => item.childSessionId === childSessionId && item.state === "running";
      if (!conversation.change("worker", isOfSession, () => ended)) conversation.push({ ...newWorker(base, childSessionId), ...ended });
      return;
    }
  }
}

function open(steps: readonly string[]): PlanStepView[] {
  return steps.map((text) => ({ text, isCompleted: false }));
}

function newWorker(base: Base, childSessionId: string): WorkerItem {
  return {
    ...base,
    kind: "worker",
    childSessionId,
    agentType: "",
    task: "",
    state: "running",
    stopReason: StopReason.UNSPECIFIED,
    turns: 0,
    durationMilliseconds: 0,
    tokens: 0n,
    filesTouched: [],
  };
}

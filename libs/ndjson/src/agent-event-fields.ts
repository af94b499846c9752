import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { FinishReasonSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import {
  ApprovalKind,
  ApprovalKindSchema,
  ApprovalStateSchema,
  DecidingStepSchema,
  DecisionSchema,
  type Approval,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  InstructionOriginSchema,
  InstructionStateSchema,
  StopReasonSchema,
  Phase,
  PhaseSchema,
  ReminderKindSchema,
  TodoSourceSchema,
  TodoStatusSchema,
  type AssistantMessage,
  type Attachment,
  type Event,
  type InstructionsLoaded,
  type PermissionCheck,
  type ToolEnd,
  type WorkerCompleted,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { SafetyLevelSchema, ToolOutput_StreamSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { compactionFields } from "./compaction-fields.ts";
import { enumWord } from "./enum-word.ts";
import type { JsonObject } from "./json-object.ts";
import { permissionModeWord } from "./permission-mode.ts";
import { callReplayedFields, replayFields, turnReplayedFields } from "./replay-fields.ts";

/** A payload that becomes an `agent_event`: every one but the answer's text and the run's end. */
export type AgentEventPayload = Exclude<Event["payload"], { case: undefined } | { case: "messageDelta" } | { case: "runStopped" }>;

/** An attachment without its text or its bytes. */
export function attachmentFields({ path, text, mediaType, sha256, size, width, height }: Attachment): JsonObject {
  if (mediaType === "") return { path, characters: text.length };
  return { path, mediaType, size, sha256, width: width || undefined, height: height || undefined };
}

/** What an event carries; its line spells the names in snake_case: `args_summary`, `duration_ms`. */
export function agentEventFields(payload: AgentEventPayload): JsonObject {
  switch (payload.case) {
    case "userMessage":
      return {
        text: payload.value.text,
        author: payload.value.author || undefined,
        queuedSequence: Number(payload.value.queuedSequence) || undefined,
        attachments: payload.value.attachments.map(attachmentFields),
      };
    case "runStarted": {
      const { model, workspace, settings, prefixHash, allowedSecrets, agent, origin, budget, replay } = payload.value;
      return {
        model,
        workspace,
        permissionMode: settings && permissionModeWord(settings.mode),
        allowedTools: settings?.allowedTools,
        disallowedTools: settings?.disallowedTools,
        canAsk: settings?.canAsk,
        prefixHash,
        allowedSecrets,
        onlyTools: settings?.onlyTools?.tools,
        agentType: agent?.name,
        parentSessionId: origin?.parentSessionId,
        ...(budget === undefined ? {} : { budget: runBudget(budget) }),
        replay: replay && replayFields(replay),
      };
    }
    case "comment":
      return { text: payload.value.text };
    case "sessionTaken":
      return { formerOwner: payload.value.formerOwner };
    case "callReplayed":
      return callReplayedFields(payload.value);
    case "turnReplayed":
      return turnReplayedFields(payload.value);
    case "thinking":
      return {};
    case "reasoningUpdate":
      return { summary: payload.value.text };
    case "assistantMessage":
      return assistantMessage(payload.value);
    case "toolSelected": {
      const { callId, tool, argumentsJson, toolIndex, toolTotal } = payload.value;
      return { callId, name: tool, argumentsJson, toolIndex, toolTotal };
    }
    case "permissionCheck":
      return permissionCheck(payload.value);
    case "toolStart": {
      const { callId, tool, argumentsJson, argumentsSummary, toolIndex, toolTotal } = payload.value;
      return { callId, name: tool, argsSummary: argumentsSummary, argumentsJson, toolIndex, toolTotal };
    }
    case "toolOutput": {
      const { callId, output } = payload.value;
      return { callId, stream: output && enumWord(ToolOutput_StreamSchema, output.stream), text: output?.text };
    }
    case "toolEnd":
      return toolEnd(payload.value);
    case "turnStats": {
      const { toolCount, durationMilliseconds, inputTokens, outputTokens, phase } = payload.value;
      return {
        toolCount,
        durationMs: durationMilliseconds,
        inputTokens: Number(inputTokens),
        outputTokens: Number(outputTokens),
        phase: phase === Phase.UNSPECIFIED ? undefined : enumWord(PhaseSchema, phase),
      };
    }
    case "usageUpdate": {
      const { usage, cost } = payload.value;
      return {
        inputTokens: Number(usage?.inputTokens ?? 0),
        outputTokens: Number(usage?.outputTokens ?? 0),
        cacheReadTokens: Number(usage?.cacheReadTokens ?? 0),
        cacheWriteTokens: Number(usage?.cacheWriteTokens ?? 0),
        reasoningTokens: Number(usage?.reasoningTokens ?? 0),
        costNanoDollars: Number(cost?.nanoDollars ?? 0),
        unpricedCalls: cost?.unpricedCalls ?? 0,
      };
    }
    case "memoryActivity": {
      const { recalled, written, notice, withheld } = payload.value;
      return { recalled, written, notice, withheld: withheld || undefined };
    }
    case "instructionsLoaded":
      return instructionsLoaded(payload.value);
    case "toolWaiting":
      return { callId: payload.value.callId, name: payload.value.tool, position: payload.value.position };
    case "messageQueued":
      return {
        text: payload.value.text,
        interrupts: payload.value.interrupts,
        ...(payload.value.attachments.length > 0 ? { attachments: payload.value.attachments.map(attachmentFields) } : {}),
      };
    case "runQueued":
    case "runTakenOver":
      return {};
    case "compaction":
      return compactionFields(payload.value);
    case "sessionForked":
      return { parentSessionId: payload.value.parentSessionId, parentSequence: Number(payload.value.parentSequence) };
    case "conversationUndone": {
      const { lastSequence, toTurn, restoredPaths, keptPaths } = payload.value;
      return { lastSequence: Number(lastSequence), toTurn, restoredPaths, keptPaths };
    }
    case "workerSpawned": {
      const { callId, childSessionId, childRunId, agentType, task, budget } = payload.value;
      const of = { turns: budget?.turns ?? 0, seconds: Math.round((budget?.milliseconds ?? 0) / 1_000) };
      return { callId, childSessionId, childRunId, agentType, task, budget: of };
    }
    case "workerCompleted":
      return workerCompleted(payload.value);
    case "workerPermission": {
      const { callId, childSessionId, agentTypes, check } = payload.value;
      return { callId, childSessionId, agentTypes, check: check && permissionCheck(check) };
    }
    case "todoUpdated": {
      const { items, source } = payload.value;
      return {
        items: items.map(({ text, status }) => ({ text, status: enumWord(TodoStatusSchema, status) })),
        source: enumWord(TodoSourceSchema, source),
      };
    }
    case "planCreated":
      return { callId: payload.value.callId, plan: payload.value.text, steps: payload.value.steps };
    case "planAnswered": {
      const { callId, accepted, text, steps, mode } = payload.value;
      return { callId, accepted, text, steps, permissionMode: accepted ? permissionModeWord(mode) : undefined };
    }
    case "planStep":
      return { index: payload.value.index, step: payload.value.step, completed: payload.value.completed };
    case "reminder":
      return { kind: enumWord(ReminderKindSchema, payload.value.kind), text: payload.value.text };
    case "sessionImported":
      return { exportedSessionId: payload.value.exportedSessionId, lines: payload.value.lines };
  }
}

function workerCompleted(value: WorkerCompleted): JsonObject {
  const { callId, childSessionId, childRunId, agentType, success, stopReason, usage, turns, toolCalls } = value;
  return {
    callId,
    childSessionId,
    childRunId,
    agentType,
    success,
    stopReason: enumWord(StopReasonSchema, stopReason),
    tokensUsed: Number((usage?.inputTokens ?? 0n) + (usage?.outputTokens ?? 0n)),
    turns,
    toolCalls,
    durationMs: value.durationMilliseconds,
    filesTouched: value.filesTouched,
  };
}

function runBudget({ tokens, nanoDollars, turns, milliseconds }: RunBudget): JsonObject {
  const number = (amount: bigint | undefined): number | undefined => (amount === undefined ? undefined : Number(amount));
  return { tokens: number(tokens), nanoDollars: number(nanoDollars), turns: number(turns), durationMs: number(milliseconds) };
}

function assistantMessage({ text, thinking, toolCalls, finish, servedBy, servedWhy, resumed }: AssistantMessage): JsonObject {
  return {
    text,
    thinking: thinking.map((piece) => piece.text),
    toolCalls: toolCalls.map(({ id, tool, argumentsJson }) => ({ id, name: tool, argumentsJson })),
    finishReason: finish && enumWord(FinishReasonSchema, finish.reason),
    finishDetail: finish?.detail,
    ...(servedBy === "" ? {} : { servedBy, servedWhy }),
    ...(resumed === 0 ? {} : { resumed }),
  };
}

function permissionCheck(check: PermissionCheck): JsonObject {
  return {
    callId: check.callId,
    name: check.tool,
    decision: enumWord(DecisionSchema, check.decision),
    step: enumWord(DecidingStepSchema, check.step),
    rule: check.rule,
    reason: check.reason,
    approval: check.approval && approvalFields(check.approval),
  };
}

function approvalFields(approval: Approval): JsonObject {
  return {
    approvalId: approval.approvalId,
    argumentsJson: approval.argumentsJson,
    argumentsHash: approval.argumentsHash,
    safetyLevel: enumWord(SafetyLevelSchema, approval.safetyLevel).toUpperCase(),
    reason: approval.reason,
    kind: approval.kind === ApprovalKind.UNSPECIFIED ? "action" : enumWord(ApprovalKindSchema, approval.kind),
    state: enumWord(ApprovalStateSchema, approval.state),
    requestedBy: approval.requestedBy,
    requestedAt: isoTime(approval.requestedAt),
    expiresAt: isoTime(approval.expiresAt),
    answeredBy: approval.answeredBy,
    answeredAt: isoTime(approval.answeredAt),
  };
}

function toolEnd({ callId, tool, result, servedFromSequence }: ToolEnd): JsonObject {
  return {
    callId,
    name: tool,
    success: result?.success ?? false,
    content: result?.content ?? "",
    durationMs: result?.durationMilliseconds ?? 0,
    summary: result?.summary,
    errorCode: result?.errorCode,
    resultBytes: Number(result?.resultBytes ?? 0),
    truncated: result?.truncated,
    exitCode: result?.exitCode,
    servedFromSeq: Number(servedFromSequence) || undefined,
  };
}

/** As of attachments, how long the texts are and not the texts. */
function instructionsLoaded({ files, workspace, notice }: InstructionsLoaded): JsonObject {
  const described = files.map(({ path, origin, state, sha256, text, reason }) => ({
    path,
    origin: enumWord(InstructionOriginSchema, origin),
    state: enumWord(InstructionStateSchema, state),
    sha256,
    characters: text.length,
    reason,
  }));
  return { files: described, workspace, notice };
}

function isoTime(time: Timestamp | undefined): string | undefined {
  return time === undefined ? undefined : timestampDate(time).toISOString();
}

import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { DecidingStepSchema, DecisionSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  Replay_KindSchema,
  TurnReplayed_Agreement as Agreement,
  TurnReplayed_AgreementSchema,
  type CallReplayed,
  type Replay,
  type Ruled,
  type TurnReplayed,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import { enumWord } from "./enum-word.ts";
import type { JsonObject } from "./json-object.ts";

/** What a run replays. */
export function replayFields({ sessionId, kind, turn }: Replay): JsonObject {
  return { sessionId, kind: enumWord(Replay_KindSchema, kind), turn: turn || undefined };
}

/** A recorded call, and what policy said of it then and says now. */
export function callReplayedFields({ sequence, callId, tool, argumentsSummary, recorded, now, redacted }: CallReplayed): JsonObject {
  return {
    replayedSeq: Number(sequence),
    callId,
    name: tool,
    argsSummary: argumentsSummary,
    recorded: recorded && ruled(recorded),
    now: now && ruled(now),
    redacted: redacted || undefined,
  };
}

/** A recorded turn, and what another model would have called in its place. */
export function turnReplayedFields({ sequence, runId, turn, recorded, proposed, text, agreement, failure }: TurnReplayed): JsonObject {
  return {
    replayedSeq: Number(sequence),
    replayedRunId: runId,
    replayedTurn: turn,
    recorded: recorded.map(call),
    proposed: proposed.map(call),
    text,
    agreement: agreement === Agreement.UNSPECIFIED ? undefined : enumWord(TurnReplayed_AgreementSchema, agreement),
    failure: failure || undefined,
  };
}

function ruled({ decision, step, rule, reason }: Ruled): JsonObject {
  return { decision: enumWord(DecisionSchema, decision), step: enumWord(DecidingStepSchema, step), rule, reason };
}

function call({ tool, argumentsJson }: ToolCallPart): JsonObject {
  return { name: tool, argumentsJson };
}

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { SessionSchema, type Session as SessionMessage } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { Session } from "../domain/session/session.ts";

export function encodeSession(session: Session): SessionMessage {
  const { sessionId, title, owner, workspace, model, runningRunId, lastStopReason, archived, forkedFrom, imported } = session;
  return create(SessionSchema, {
    sessionId,
    title,
    owner,
    workspace,
    model,
    runningRunId,
    lastStopReason,
    archived,
    forkedFrom,
    forkedAtSequence: BigInt(session.forkedAtSequence),
    imported,
    parentSessionId: session.worker?.parentSessionId,
    agentType: session.worker?.agentType,
    workerDepth: session.worker?.depth,
    cost: session.cost,
    lastSequence: BigInt(session.lastSequence),
    createdAt: timestampFromDate(session.createdAt),
    updatedAt: timestampFromDate(session.updatedAt),
  });
}

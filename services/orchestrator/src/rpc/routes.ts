import { create } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import {
  CancelRunResponseSchema,
  DeleteSessionResponseSchema,
  GetSessionResponseSchema,
  SendMessageResponseSchema,
  SessionService,
  UpdateSessionResponseSchema,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { changeSession, deleteSession } from "../domain/session/change-session.ts";
import { cancelRun } from "../domain/session/cancel-run.ts";
import { sendMessage } from "../domain/session/send-message.ts";
import { sessionRights } from "../domain/sharing/grant-message.ts";
import { requireSession, sessionRight } from "../domain/session/require-session.ts";
import { copyMethods } from "./copy-session.ts";
import { encodeSession } from "./encode-session.ts";
import { getContextMethod } from "./get-context.ts";
import type { Orchestrator } from "./orchestrator.ts";
import { listSessionsMethod } from "./list-sessions.ts";
import { readEventsMethod } from "./read-events.ts";
import { readOutputMethod } from "./read-output.ts";
import { startRunMethod } from "./start-run.ts";
import { undoToTurnMethod } from "./undo-to-turn.ts";
import { watchMethod } from "./watch.ts";

export function sessionRoutes(orchestrator: Orchestrator): (router: ConnectRouter) => void {
  return (router) =>
    router.service(SessionService, {
      startRun: startRunMethod(orchestrator),
      watch: watchMethod(orchestrator),
      readEvents: readEventsMethod(orchestrator),
      readOutput: readOutputMethod(orchestrator),
      cancelRun: cancelRunMethod(orchestrator),
      sendMessage: sendMessageMethod(orchestrator),
      listSessions: listSessionsMethod(orchestrator),
      getSession: getSessionMethod(orchestrator),
      getContext: getContextMethod(orchestrator),
      updateSession: updateSessionMethod(orchestrator),
      deleteSession: deleteSessionMethod(orchestrator),
      ...copyMethods(orchestrator),
      undoToTurn: undoToTurnMethod(orchestrator),
    });
}

function cancelRunMethod({ store, runs }: Orchestrator): ServiceImpl<typeof SessionService>["cancelRun"] {
  return async ({ sessionId, runId }, context) => {
    const { principal } = callContext(context);
    return create(CancelRunResponseSchema, { cancelled: await cancelRun(principal, sessionId, runId, store, runs) });
  };
}

function sendMessageMethod(orchestrator: Orchestrator): ServiceImpl<typeof SessionService>["sendMessage"] {
  return async ({ sessionId, text, interrupt, attachments }, context) => {
    const { principal } = callContext(context);
    const { runId, sequence } = await sendMessage({ principal, sessionId, text, interrupt, attachments }, orchestrator);
    return create(SendMessageResponseSchema, { runId, sequence: BigInt(sequence) });
  };
}

function getSessionMethod({ store }: Orchestrator): ServiceImpl<typeof SessionService>["getSession"] {
  return async ({ sessionId }, context) => {
    const { principal } = callContext(context);
    const session = await requireSession(store, principal, sessionId, "read");
    const { right, offered } = await sessionRight(store, principal, session);
    return create(GetSessionResponseSchema, { session: { ...encodeSession(session), right: sessionRights[right], offered } });
  };
}

function updateSessionMethod({ store }: Orchestrator): ServiceImpl<typeof SessionService>["updateSession"] {
  return async ({ sessionId, title, archived }, context) => {
    const session = await changeSession(callContext(context).principal, sessionId, { title, archived }, store);
    return create(UpdateSessionResponseSchema, { session: encodeSession(session) });
  };
}

function deleteSessionMethod({ store }: Orchestrator): ServiceImpl<typeof SessionService>["deleteSession"] {
  return async ({ sessionId }, context) => {
    await deleteSession(callContext(context).principal, sessionId, store);
    return create(DeleteSessionResponseSchema);
  };
}

import type { HandlerContext } from "@connectrpc/connect";
import type { CloseWorkspaceRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Sessions } from "../domain/sessions.ts";

export async function closeWorkspace(sessions: Sessions, request: CloseWorkspaceRequest, context: HandlerContext) {
  await sessions.close(callContext(context).principal, request.sessionId);
  return {};
}

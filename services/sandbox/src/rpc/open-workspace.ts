import type { HandlerContext } from "@connectrpc/connect";
import type { OpenWorkspaceRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Sessions } from "../domain/sessions.ts";

export async function openWorkspace(sessions: Sessions, request: OpenWorkspaceRequest, context: HandlerContext) {
  const { path, isGitRepository, gitBranch } = await sessions.open(callContext(context).principal, request.sessionId, request.path);
  return { path, gitRepository: isGitRepository, gitBranch };
}

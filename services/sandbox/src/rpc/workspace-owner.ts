import type { HandlerContext } from "@connectrpc/connect";
import { ownerByGrant, WORKSPACE_GRANT_HEADER, type WorkspaceUse } from "@hlvm/grant/workspace-grant";
import type { PublicKeys } from "@hlvm/identity/public-keys";
import { callContext } from "@hlvm/rpc/call-context";
import type { Owner } from "../domain/receipts.ts";

/** Under whom the workspace of a call is known: the caller, or who shared the session with them, as policy signed it. @throws HlvmError `workspace_grant_refused` */
export type WorkspaceOwner = (context: HandlerContext, sessionId: string, use: WorkspaceUse) => Owner;

export function workspaceOwner(keys: PublicKeys): WorkspaceOwner {
  return (context, sessionId, use) => {
    const { principal } = callContext(context);
    const grant = context.requestHeader.get(WORKSPACE_GRANT_HEADER);
    if (grant === null) return principal;
    const { organization, id } = principal;
    return { organization, id: ownerByGrant(grant, { organization, sessionId, principal: id, use }, keys) };
  };
}

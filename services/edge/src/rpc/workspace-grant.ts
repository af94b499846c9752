import { createClient } from "@connectrpc/connect";
import { WORKSPACE_GRANT_HEADER } from "@hlvm/grant/workspace-grant";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext, outgoing } from "@hlvm/rpc/call-context";
import type { Backend } from "./backends.ts";
import type { MoreHeaders } from "./forward.ts";

const DEADLINE_MILLISECONDS = 2_000;

/**
 * By what somebody looks into the workspace of a session that was shared with them. Of their own they need nothing, so that where
 * policy cannot be asked they go on without: the sandbox then knows them as nobody but themselves.
 */
export function workspaceGrant(policy: Backend, minter: TokenMinter): MoreHeaders {
  const client = createClient(PolicyService, policy.transport);
  return async (request, context): ReturnType<MoreHeaders> => {
    const sessionId = "sessionId" in request ? String(request.sessionId) : "";
    if (sessionId === "") return {};
    const { principal, signal } = callContext(context);
    const token = minter.mint(principal, policy.name);
    const options = outgoing({ token, signal, remainingMilliseconds: () => DEADLINE_MILLISECONDS });
    const { grant } = await client.grantWorkspace({ sessionId }, options).catch(() => ({ grant: "" }));
    return grant === "" ? {} : { [WORKSPACE_GRANT_HEADER]: grant };
  };
}

import type { HandlerContext } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import type { ModelCaller } from "../domain/keys/callers-models.ts";

/** Who calls, or for whom: of a run the teams that its delegation names. */
export function callerOf(context: HandlerContext): ModelCaller {
  const { principal, delegation } = callContext(context);
  return { organization: principal.organization, teams: delegation?.principal.teams ?? [] };
}

import type { MethodImpl } from "@connectrpc/connect";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { DelegateRun } from "../domain/delegate-run.ts";
import type { Backend } from "./backends.ts";
import { forwardUnary } from "./forward.ts";

type StartRun = typeof SessionService.method.startRun;

/** Hands a run on with ids of the edge's choosing and what the person lets it do, whatever the client sent in their place. */
export function startRunMethod(orchestrator: Backend, minter: TokenMinter, delegate: DelegateRun): MethodImpl<StartRun> {
  const forward = forwardUnary(SessionService.method.startRun, orchestrator, minter) as MethodImpl<StartRun>;
  return (request, context) => forward(delegate(callContext(context).principal, request), context);
}

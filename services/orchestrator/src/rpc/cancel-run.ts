import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import { CancelRunResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { cancelRun } from "../domain/session/cancel-run.ts";
import type { Orchestrator } from "./orchestrator.ts";

export function cancelRunMethod({ store, runs }: Orchestrator): ServiceImpl<typeof SessionService>["cancelRun"] {
  return async ({ sessionId, runId }, context) => {
    const { principal } = callContext(context);
    return create(CancelRunResponseSchema, { cancelled: await cancelRun(principal, sessionId, runId, store, runs) });
  };
}

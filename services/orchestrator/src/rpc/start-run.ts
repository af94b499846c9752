import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import { StartRunResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { startRun } from "../domain/session/start-run.ts";
import type { Orchestrator } from "./orchestrator.ts";

export function startRunMethod(orchestrator: Orchestrator): ServiceImpl<typeof SessionService>["startRun"] {
  return async (request, context) => {
    const { principal, traceId, signal } = callContext(context);
    const { sessionId, prompt, workspace, model, attachments, stateless, allowedSecrets } = request;
    const what = { sessionId, prompt, workspace, model, settings: request.settings!, attachments, stateless, allowedSecrets };
    const asked = { principal, ...what, signal };
    const { store, runs, execute } = orchestrator;
    const started = await startRun(asked, { store, runs, execute, mesh: orchestrator.mesh(principal, traceId) });
    return create(StartRunResponseSchema, { ...started, sequence: BigInt(started.sequence) });
  };
}

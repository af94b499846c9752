import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import { StartRunResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import { startRun } from "../domain/session/start-run.ts";
import type { Orchestrator } from "./orchestrator.ts";

export function startRunMethod(orchestrator: Orchestrator): ServiceImpl<typeof SessionService>["startRun"] {
  return async (request, context) => {
    const { principal, signal } = callContext(context);
    const { sessionId, newSessionId, runId, delegation, prompt, workspace, model, attachments, stateless, allowedSecrets, budget } =
      request;
    const isPrepared = sessionId === "" && request.preparedSessionId !== "";
    const delegated = { principal, sessionId: sessionId || newSessionId, runId };
    const { settings } = requireDelegation(orchestrator.delegations.verify(delegation), delegated);
    const what = {
      prompt,
      workspace: isPrepared ? "" : workspace,
      isPrepared,
      model,
      settings,
      attachments,
      stateless,
      allowedSecrets,
      budget,
    };
    const asked = { ...delegated, ...what, isNew: sessionId === "", delegation, signal };
    const { store, runs, execute } = orchestrator;
    const started = await startRun(asked, { store, runs, execute, mesh: orchestrator.mesh({ principal, delegation }) });
    return create(StartRunResponseSchema, { ...started, sequence: BigInt(started.sequence) });
  };
}

import { create, equals } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { narrowSettings } from "@hlvm/agents/narrow-settings";
import { PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { StartRunResponseSchema, type SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import { startReplay } from "../domain/replay/start-replay.ts";
import { startRun } from "../domain/session/start-run.ts";
import { resolveAgent } from "../domain/workers/run-agent.ts";
import type { Orchestrator } from "./orchestrator.ts";

export function startRunMethod(orchestrator: Orchestrator): ServiceImpl<typeof SessionService>["startRun"] {
  return async (request, context) => {
    const { principal, signal } = callContext(context);
    const { sessionId, newSessionId, runId, prompt, workspace, model, attachments, stateless } = request;
    const { allowedSecrets, personalInstructions, budget } = request;
    const isPrepared = sessionId === "" && request.preparedSessionId !== "";
    const delegated = { principal, sessionId: sessionId || newSessionId, runId };
    const person = requireDelegation(orchestrator.delegations.verify(request.delegation), delegated);
    const agent = resolveAgent(request.agent, request.workerProfiles);
    const settings = narrowSettings(person.settings, agent.profile);
    const isNarrowed = !equals(PermissionSettingsSchema, settings, person.settings);
    const delegation = isNarrowed ? orchestrator.narrow(request.delegation, { runId, settings }) : request.delegation;
    const what = { prompt, workspace: isPrepared ? "" : workspace, isPrepared, model, settings, attachments, stateless, budget };
    // With the teams that the edge delegated for.
    const asked = {
      ...delegated,
      principal: person.principal,
      ...what,
      allowedSecrets,
      personalInstructions,
      isNew: sessionId === "",
      agent,
      delegation,
      signal,
    };
    const { store, log, attached, runs, execute } = orchestrator;
    const starter = { store, log, attached, runs, execute, mesh: orchestrator.mesh({ principal, delegation }) };
    const { replay } = request;
    const started = await (replay === undefined ? startRun(asked, starter) : startReplay(asked, replay, starter));
    return create(StartRunResponseSchema, { ...started, sequence: BigInt(started.sequence) });
  };
}

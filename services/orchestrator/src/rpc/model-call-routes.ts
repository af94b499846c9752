import { create } from "@bufbuild/protobuf";
import { ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { toConnectError } from "@hlvm/connect-errors/to-connect-error";
import type { Principal } from "@hlvm/identity/principal";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { GenerateResponseSchema, ModelErrorSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CallModelResponseSchema, ModelCallService, type ModelCaller } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { callModel, type DoorPorts } from "../domain/door/call-model.ts";
import { countCallTokens } from "../domain/door/count-call-tokens.ts";
import { embedTexts } from "../domain/door/embed-texts.ts";
import type { DoorCaller } from "../domain/door/call-record.ts";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import type { Orchestrator } from "./orchestrator.ts";

export interface ModelCallParts extends Pick<Orchestrator, "delegations"> {
  /** What the calls of one caller are made with. */
  readonly doorPorts: (call: { readonly principal: Principal; readonly delegation: string }) => DoorPorts;
}

/** For the edge, which signs for each call whose it is and what it may. */
export function modelCallRoutes(parts: ModelCallParts): (router: ConnectRouter) => void {
  const open = (caller: ModelCaller, context: HandlerContext): { caller: DoorCaller; ports: DoorPorts; signal: AbortSignal } => {
    const { principal, signal } = callContext(context);
    const { callId, delegation: text, door, provider } = caller;
    const delegation = requireDelegation(parts.delegations.verify(text), { principal, sessionId: callId, runId: callId });
    const { modelAccess: access } = delegation;
    if (access === undefined) throw notForModels();
    return {
      caller: { delegation, access, signed: text, door, provider },
      ports: parts.doorPorts({ principal: delegation.principal, delegation: text }),
      signal,
    };
  };
  return (router) =>
    router.service(ModelCallService, {
      async *callModel({ caller: who, request }, context) {
        try {
          const { caller, ports, signal } = open(who!, context);
          for await (const event of callModel(caller, request!, ports, signal)) {
            if (event.case === "started") {
              const value = { model: event.model, inputTokens: BigInt(Math.ceil(event.inputTokens)) };
              yield create(CallModelResponseSchema, { event: { case: "started", value } });
            } else yield create(CallModelResponseSchema, { event: { case: "generate", value: create(GenerateResponseSchema, { event }) } });
          }
        } catch (thrown) {
          throw withModelError(thrown);
        }
      },
      async countCallTokens({ caller: who, request }, context) {
        try {
          const { caller, ports, signal } = open(who!, context);
          const { inputTokens, isEstimated } = await countCallTokens(caller, request!, ports, signal);
          return { inputTokens: BigInt(Math.ceil(inputTokens)), isEstimated };
        } catch (thrown) {
          throw withModelError(thrown);
        }
      },
      async embedTexts({ caller: who, request }, context) {
        try {
          const { caller, ports, signal } = open(who!, context);
          return await embedTexts(caller, request!, ports, signal);
        } catch (thrown) {
          throw withModelError(thrown);
        }
      },
    });
}

function notForModels(): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "delegation_differs",
    message: "The delegation is of a run, and not of a call through a model door.",
    advice: "Call through the edge; it signs each call.",
  });
}

/** The gateway's word on a model's failure goes on to whoever asked: its class, and when to try again. */
function withModelError(thrown: unknown): ConnectError {
  const error = toConnectError(thrown);
  const cause = thrown instanceof HlvmError && thrown.cause instanceof ConnectError ? thrown.cause : undefined;
  for (const value of cause?.findDetails(ModelErrorSchema) ?? []) error.details.push({ desc: ModelErrorSchema, value });
  return error;
}

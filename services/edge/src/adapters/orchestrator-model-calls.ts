import { createHash } from "node:crypto";
import { createClient, type CallOptions } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { DelegationSigner } from "@hlvm/identity/delegation-signer";
import { fitsModel } from "@hlvm/identity/fits-model";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { create } from "@bufbuild/protobuf";
import {
  ModelService,
  type CountTokensRequest,
  type EmbedRequest,
  type EmbedResponse,
  type GenerateRequest,
  type Model,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ModelCallerSchema, ModelCallService, type CallModelResponse, type ModelCaller } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { serverStream } from "@hlvm/transport/server-stream";
import type { Caller } from "../domain/authenticator.ts";
import type { Teams } from "../domain/teams.ts";
import type { AnswerEvent, DoorCall, ModelCalls, StartedCall } from "../domain/model-calls.ts";
import type { Backend, Backends } from "../rpc/backends.ts";
import { passedOnError } from "../rpc/passed-on-error.ts";

/** Above every limit behind the edge, which say more. */
const CALL_DEADLINE_MILLISECONDS = 3_600_000;
const LIST_DEADLINE_MILLISECONDS = 15_000;
/** Of somebody who logged in themselves; of their token what it says. */
const EVERYTHING = { tokenId: "", allowedModels: [] };

export interface ModelCallParts {
  readonly backends: Pick<Backends, "orchestrator" | "model-gateway">;
  readonly minter: TokenMinter;
  readonly delegations: DelegationSigner;
  readonly teams: Teams;
}

/** Model calls through the orchestrator. The edge signs for each who calls with which token, and which models that is for. */
export class OrchestratorModelCalls implements ModelCalls {
  readonly #parts: ModelCallParts;

  constructor(parts: ModelCallParts) {
    this.#parts = parts;
  }

  async generate(call: DoorCall, asked: GenerateRequest, gone: AbortSignal): Promise<StartedCall> {
    const { orchestrator } = this.#parts.backends;
    const request = { ...asked, cacheKey: ownCacheKey(call.caller, asked.cacheKey) };
    const caller = await this.#sign(call);
    const options = this.#options(call.caller, orchestrator, gone, CALL_DEADLINE_MILLISECONDS);
    const responses = serverStream(orchestrator.transport, ModelCallService.method.callModel, { caller, request }, options);
    const first = await answerOf(orchestrator, gone, responses.next());
    const started = first.value?.event;
    if (started?.case !== "started") throw cut();
    const { model, inputTokens } = started.value;
    return { model, inputTokens: Number(inputTokens), events: eventsOf(orchestrator, responses, gone) };
  }

  async countTokens(call: DoorCall, request: CountTokensRequest, gone: AbortSignal): Promise<number> {
    const { orchestrator } = this.#parts.backends;
    const caller = await this.#sign(call);
    const options = this.#options(call.caller, orchestrator, gone, CALL_DEADLINE_MILLISECONDS);
    const asked = createClient(ModelCallService, orchestrator.transport).countCallTokens({ caller, request }, options);
    return Number((await answerOf(orchestrator, gone, asked)).inputTokens);
  }

  async embed(call: DoorCall, request: EmbedRequest, gone: AbortSignal): Promise<{ model: string; response: EmbedResponse }> {
    const { orchestrator } = this.#parts.backends;
    const caller = await this.#sign(call);
    const options = this.#options(call.caller, orchestrator, gone, CALL_DEADLINE_MILLISECONDS);
    const asked = createClient(ModelCallService, orchestrator.transport).embedTexts({ caller, request }, options);
    const { model, response } = await answerOf(orchestrator, gone, asked);
    if (response === undefined) throw cut();
    return { model, response };
  }

  async list(caller: Caller, gone: AbortSignal): Promise<readonly Model[]> {
    const gateway = this.#parts.backends["model-gateway"];
    const { allowedModels } = caller.token ?? EVERYTHING;
    const options = this.#options(caller, gateway, gone, LIST_DEADLINE_MILLISECONDS);
    const { models } = await answerOf(gateway, gone, createClient(ModelService, gateway.transport).listModels({}, options));
    const isPermitted = (id: string): boolean => allowedModels.length === 0 || allowedModels.some((pattern) => fitsModel(id, pattern));
    return models.filter(({ id, available }) => available && isPermitted(id));
  }

  async #sign({ caller, callId, door, provider }: DoorCall): Promise<ModelCaller> {
    const { delegations, teams } = this.#parts;
    const principal = { ...caller.principal, teams: await teams.of(caller.principal) };
    const settings = create(PermissionSettingsSchema);
    const modelAccess = caller.token ?? EVERYTHING;
    const delegation = delegations.sign({ principal, sessionId: callId, runId: callId, settings, modelAccess });
    return create(ModelCallerSchema, { callId, delegation, door, provider });
  }

  #options({ principal }: Caller, backend: Backend, signal: AbortSignal, milliseconds: number): CallOptions {
    return outgoing({ token: this.#parts.minter.mint(principal, backend.name), signal, remainingMilliseconds: () => milliseconds });
  }
}

/** Nobody reaches another's cache by guessing what they call it. */
function ownCacheKey({ principal: { organization, id } }: Caller, key: string): string {
  return key === ""
    ? ""
    : createHash("sha256")
        .update(JSON.stringify([organization, id, key]))
        .digest("hex");
}

async function* eventsOf(
  backend: Backend,
  responses: AsyncIterable<CallModelResponse>,
  gone: AbortSignal,
): AsyncGenerator<AnswerEvent, void> {
  try {
    for await (const { event } of responses) if (event.case === "generate" && event.value.event.case !== undefined) yield event.value.event;
  } catch (thrown) {
    throw fromConnectError(passedOnError(thrown, backend.name, gone));
  }
}

async function answerOf<T>({ name }: Backend, gone: AbortSignal, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    throw fromConnectError(passedOnError(thrown, name, gone));
  }
}

function cut(): HlvmError {
  return new HlvmError({ code: "unavailable", reason: "stream_cut", message: "The call broke off before it began.", advice: "Ask again." });
}

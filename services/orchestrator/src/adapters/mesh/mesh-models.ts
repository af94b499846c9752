import { create } from "@bufbuild/protobuf";
import { ConnectError, type Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ErrorClass, GenerateRequestSchema, ModelErrorSchema, type Model, type ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callerNames } from "../../domain/loop/caller-names.ts";
import { ModelFailure } from "../../domain/loop/model-failure.ts";
import type { ModelEvent, ModelRequest, Models, ModelTask } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";
import { openModelCalls, type SharedModelCalls } from "./model-calls.ts";
import { resumeAnswer } from "./resume-answer.ts";

/** Whoever wants a count has an estimate, and a person who waits. */
const COUNT_DEADLINE_MILLISECONDS = 2_000;
const RESOLVE_DEADLINE_MILLISECONDS = 15_000;
/** Above the loop's own limit, which says more. */
const GENERATE_DEADLINE_MILLISECONDS = 3_600_000;

/** The model gateway. */
export class MeshModels implements Models {
  readonly #client: Client<typeof ModelService>;
  readonly #calls: SharedModelCalls;
  readonly #caller: MeshCaller;

  constructor(client: Client<typeof ModelService>, calls: SharedModelCalls, caller: MeshCaller) {
    this.#client = client;
    this.#calls = calls;
    this.#caller = caller;
  }

  async resolve(model: string, signal: AbortSignal, wanted?: ModelTask): Promise<Model> {
    try {
      const response = await this.#client.resolveModel({ model, ...wanted }, this.#caller.options(RESOLVE_DEADLINE_MILLISECONDS, signal));
      if (response.model === undefined)
        throw new HlvmError({ code: "internal", reason: "model_missing", message: "The model gateway named no model." });
      return response.model;
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async countTokens({ model, messages, tools }: Parameters<Models["countTokens"]>[0], signal: AbortSignal): Promise<number | undefined> {
    try {
      const request = { model, messages: [...messages], tools: [...tools] };
      const { inputTokens } = await this.#client.countTokens(request, this.#caller.options(COUNT_DEADLINE_MILLISECONDS, signal));
      return inputTokens === undefined ? undefined : Number(inputTokens);
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async *generate(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const { maximumOutputTokens, messages, tools, ...rest } = request;
    // Calls of one session begin alike.
    const names = { ...callerNames(this.#caller.principal), cacheKey: request.sessionId };
    const body = { ...rest, ...names, messages: [...messages], tools: [...tools], maxOutputTokens: maximumOutputTokens };
    const value = create(GenerateRequestSchema, { ...body, resumable: true });
    const limits = () => this.#caller.limits(GENERATE_DEADLINE_MILLISECONDS, signal);
    try {
      const call = { calls: this.#calls, openAnother: () => openModelCalls(this.#client, false), limits, signal };
      for await (const { event } of resumeAnswer(value, call)) if (event.case !== undefined) yield event;
    } catch (thrown) {
      signal.throwIfAborted();
      throw modelFailure(thrown, signal);
    }
  }
}

function modelFailure(thrown: unknown, signal: AbortSignal): ModelFailure {
  const error = meshError(thrown, signal);
  const [detail] = ConnectError.from(error.cause ?? thrown).findDetails(ModelErrorSchema);
  const isConnectionLost = detail === undefined && error.code === "unavailable";
  return new ModelFailure({
    errorClass: detail?.class ?? (isConnectionLost ? ErrorClass.TRANSIENT : ErrorClass.UNKNOWN),
    message: error.message,
    advice: detail?.advice || error.advice,
    isConnectionLost,
    cause: error,
  });
}

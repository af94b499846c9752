import { ConnectError, type Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ErrorClass, ModelErrorSchema, type Model, type ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { readStream } from "@hlvm/rpc/read-stream";
import { ModelFailure } from "../../domain/loop/model-failure.ts";
import type { ModelEvent, ModelRequest, Models } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const RESOLVE_DEADLINE_MILLISECONDS = 15_000;
/** Above the loop's own limit, which says more. */
const GENERATE_DEADLINE_MILLISECONDS = 3_600_000;

/** The model gateway. */
export class MeshModels implements Models {
  readonly #client: Client<typeof ModelService>;
  readonly #caller: MeshCaller;

  constructor(client: Client<typeof ModelService>, caller: MeshCaller) {
    this.#client = client;
    this.#caller = caller;
  }

  async resolve(model: string, signal: AbortSignal): Promise<Model> {
    try {
      const response = await this.#client.resolveModel({ model }, await this.#caller.options(RESOLVE_DEADLINE_MILLISECONDS, signal));
      if (response.model === undefined)
        throw new HlvmError({ code: "internal", reason: "model_missing", message: "The model gateway named no model." });
      return response.model;
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async *generate(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const { maximumOutputTokens, messages, tools, ...rest } = request;
    const body = { ...rest, messages: [...messages], tools: [...tools], maxOutputTokens: maximumOutputTokens };
    try {
      const options = await this.#caller.options(GENERATE_DEADLINE_MILLISECONDS, signal);
      for await (const { event } of readStream((reading) => this.#client.generate(body, { ...options, signal: reading }), signal))
        if (event.case !== undefined) yield event;
    } catch (thrown) {
      signal.throwIfAborted();
      throw modelFailure(thrown, signal);
    }
  }
}

function modelFailure(thrown: unknown, signal: AbortSignal): ModelFailure {
  const error = meshError(thrown, signal);
  const [detail] = ConnectError.from(error.cause ?? thrown).findDetails(ModelErrorSchema);
  const withoutDetail = error.code === "unavailable" ? ErrorClass.TRANSIENT : ErrorClass.UNKNOWN;
  return new ModelFailure({
    errorClass: detail?.class ?? withoutDetail,
    message: error.message,
    advice: detail?.advice || error.advice,
    retryAfterMilliseconds: detail?.retryAfterMilliseconds,
    cause: error,
  });
}

import { ConnectError, createClient, type Client, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ErrorClass, ModelErrorSchema, ModelService, type Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { serverStream } from "@hlvm/rpc/server-stream";
import { ModelFailure } from "../../domain/loop/model-failure.ts";
import type { ModelEvent, ModelRequest, Models } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const RESOLVE_DEADLINE_MILLISECONDS = 15_000;
/** Above the loop's own limit, which says more. */
const GENERATE_DEADLINE_MILLISECONDS = 3_600_000;

/** The model gateway. */
export class MeshModels implements Models {
  readonly #transport: Transport;
  readonly #client: Client<typeof ModelService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#transport = transport;
    this.#client = createClient(ModelService, transport);
    this.#caller = caller;
  }

  async resolve(model: string, signal: AbortSignal): Promise<Model> {
    try {
      const response = await this.#client.resolveModel({ model }, this.#caller.options(RESOLVE_DEADLINE_MILLISECONDS, signal));
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
      const options = this.#caller.options(GENERATE_DEADLINE_MILLISECONDS, signal);
      for await (const { event } of serverStream(this.#transport, ModelService.method.generate, body, options))
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
  const isConnectionLost = detail === undefined && error.code === "unavailable";
  return new ModelFailure({
    errorClass: detail?.class ?? (isConnectionLost ? ErrorClass.TRANSIENT : ErrorClass.UNKNOWN),
    message: error.message,
    advice: detail?.advice || error.advice,
    isConnectionLost,
    cause: error,
  });
}

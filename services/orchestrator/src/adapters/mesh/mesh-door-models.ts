import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import {
  ModelService,
  type CountTokensRequest,
  type EmbedRequest,
  type EmbedResponse,
  type GenerateRequest,
  type Model,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { serverStream } from "@hlvm/transport/server-stream";
import type { DoorModels } from "../../domain/door/door-models.ts";
import type { ModelEvent } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const ASK_DEADLINE_MILLISECONDS = 15_000;
/** Above the call's own limit, which says more. */
const CALL_DEADLINE_MILLISECONDS = 3_600_000;

/** The model gateway, for the calls of programs: each by itself, since none has a next one. */
export class MeshDoorModels implements DoorModels {
  readonly #transport: Transport;
  readonly #client: Client<typeof ModelService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#transport = transport;
    this.#client = createClient(ModelService, transport);
    this.#caller = caller;
  }

  async resolve(model: string, signal: AbortSignal): Promise<Model> {
    const { model: resolved } = await told(
      this.#client.resolveModel({ model }, this.#caller.options(ASK_DEADLINE_MILLISECONDS, signal)),
      signal,
    );
    if (resolved !== undefined) return resolved;
    throw new HlvmError({ code: "internal", reason: "model_missing", message: "The model gateway named no model." });
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    try {
      const options = this.#caller.options(CALL_DEADLINE_MILLISECONDS, signal);
      for await (const { event } of serverStream(this.#transport, ModelService.method.generate, request, options))
        if (event.case !== undefined) yield event;
    } catch (thrown) {
      signal.throwIfAborted();
      throw meshError(thrown, signal);
    }
  }

  async countTokens(request: CountTokensRequest, signal: AbortSignal): Promise<number | undefined> {
    const { inputTokens } = await told(this.#client.countTokens(request, this.#caller.options(ASK_DEADLINE_MILLISECONDS, signal)), signal);
    return inputTokens === undefined ? undefined : Number(inputTokens);
  }

  embed(request: EmbedRequest, signal: AbortSignal): Promise<EmbedResponse> {
    return told(this.#client.embed(request, this.#caller.options(CALL_DEADLINE_MILLISECONDS, signal)), signal);
  }
}

async function told<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    signal.throwIfAborted();
    throw meshError(thrown, signal);
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import {
  GenerateRequestSchema,
  type CountTokensRequest,
  type EmbedRequest,
  type EmbedResponse,
  type GenerateRequest,
  type Model,
  type ModelService,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { DoorModels } from "../../domain/door/door-models.ts";
import type { ModelEvent } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";
import { openModelCalls, type ModelCalls } from "./model-calls.ts";
import { isLost, resumeAnswer } from "./resume-answer.ts";

const ASK_DEADLINE_MILLISECONDS = 15_000;
/** Above the call's own limit, which says more. */
const CALL_DEADLINE_MILLISECONDS = 3_600_000;
const ATTEMPTS = 3;
const FIRST_PAUSE_MILLISECONDS = 500;

/** The model gateway, for the calls of programs: each by itself, since none has a next one. */
export class MeshDoorModels implements DoorModels {
  readonly #client: Client<typeof ModelService>;
  readonly #caller: MeshCaller;

  constructor(client: Client<typeof ModelService>, caller: MeshCaller) {
    this.#client = client;
    this.#caller = caller;
  }

  async resolve(model: string, signal: AbortSignal): Promise<Model> {
    const { model: resolved } = await answerOf(
      this.#client.resolveModel({ model }, this.#caller.options(ASK_DEADLINE_MILLISECONDS, signal)),
      signal,
    );
    if (resolved !== undefined) return resolved;
    throw new HlvmError({ code: "internal", reason: "model_missing", message: "The model gateway named no model." });
  }

  /** Asked again where the way to the gateway was lost and nothing of the answer had come. */
  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const value = create(GenerateRequestSchema, { ...request, resumable: true });
    for (let attempt = 1; ; attempt++) {
      let hasContent = false;
      try {
        for await (const event of this.#answer(value, signal)) {
          hasContent ||= event.case !== "alive";
          yield event;
        }
        return;
      } catch (thrown) {
        signal.throwIfAborted();
        if (hasContent || attempt === ATTEMPTS || !isLost(thrown)) throw meshError(thrown, signal);
      }
      const pause = Math.random() * FIRST_PAUSE_MILLISECONDS * 2 ** (attempt - 1);
      await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Each on a stream of its own: a program that reads slowly holds nobody else up. */
  async *#answer(value: GenerateRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    let calls: ModelCalls | undefined;
    const openAnother = (): ModelCalls => {
      calls?.close();
      return (calls = openModelCalls(this.#client, false));
    };
    const limits = () => this.#caller.limits(CALL_DEADLINE_MILLISECONDS, signal);
    try {
      const responses = resumeAnswer(value, { calls: openAnother(), openAnother, limits, signal });
      // The sign of life with the token says nothing of the answer: whatever fails after it may still have a status of its own.
      for await (const { event, resumeToken } of responses) if (event.case !== undefined && resumeToken === "") yield event;
    } finally {
      calls?.close();
    }
  }

  async countTokens(request: CountTokensRequest, signal: AbortSignal): Promise<number | undefined> {
    const { inputTokens } = await answerOf(
      this.#client.countTokens(request, this.#caller.options(ASK_DEADLINE_MILLISECONDS, signal)),
      signal,
    );
    return inputTokens === undefined ? undefined : Number(inputTokens);
  }

  embed(request: EmbedRequest, signal: AbortSignal): Promise<EmbedResponse> {
    return answerOf(this.#client.embed(request, this.#caller.options(CALL_DEADLINE_MILLISECONDS, signal)), signal);
  }
}

async function answerOf<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    signal.throwIfAborted();
    throw meshError(thrown, signal);
  }
}

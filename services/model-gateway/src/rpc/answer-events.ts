import pRetry from "p-retry";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { generate } from "../domain/generate.ts";
import type { AnswerEvent } from "../domain/generation.ts";
import { KEYS_UNAVAILABLE, type ModelCaller } from "../domain/keys/callers-models.ts";
import { ObservedAnswer } from "../domain/observed-answer.ts";
import { decodeGeneration } from "./decode-generation.ts";
import { decodeNeeds } from "./decode-needs.ts";
import type { ModelServiceParts } from "./routes.ts";

/** A database that is started again is there within these. */
const KEYS_RETRY = { retries: Number.POSITIVE_INFINITY, minTimeout: 250, maxTimeout: 1_000, randomize: true, maxRetryTime: 5_000 };

export interface AnswerOptions {
  readonly caller: ModelCaller;
  readonly signal: AbortSignal;
  readonly remainingMilliseconds: number | undefined;
  /** Left out: nobody can come back for the answer. */
  readonly answerName?: string;
}

/** What a caller hears of a request. Both throw, this and what it resolves to. @throws ModelError */
export async function answerEvents(
  { models, log }: Pick<ModelServiceParts, "models" | "log">,
  request: GenerateRequest,
  { caller, signal, remainingMilliseconds, answerName }: AnswerOptions,
): Promise<AsyncIterable<AnswerEvent>> {
  const { model: wanted, route } = request;
  const { router, target } = await whenKeysAreThere(async () => {
    const { catalogue, router: own } = await models(caller);
    return { router: own, target: catalogue.find(wanted) };
  }, signal);
  const generation = { ...decodeGeneration(request, target.name), ...(answerName === undefined ? {} : { answerName }) };
  const deltas = generate(target, generation, {
    signal,
    remainingMilliseconds,
    onRetry: ({ error, ...retry }) => log.warn({ ...retry, reason: error.reason, why: error.message }, "trying again"),
    next: router.next({ route, model: wanted, needs: decodeNeeds(request.fallbackNeeds) }, generation, signal),
  });
  return new ObservedAnswer({ provider: target.providerName, model: target.name }, deltas, ({ model, why }) =>
    log.warn({ model: wanted, route, servedBy: model.id, why }, "another model answers"),
  );
}

/** Keys that a gateway has not read since it started cannot be read while their database is away: that passes. */
async function whenKeysAreThere<T>(find: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const isPassing = (thrown: unknown): boolean => thrown instanceof HlvmError && thrown.reason === KEYS_UNAVAILABLE;
  try {
    return await find();
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    return pRetry(find, { ...KEYS_RETRY, signal, shouldRetry: ({ error }) => isPassing(error) });
  }
}

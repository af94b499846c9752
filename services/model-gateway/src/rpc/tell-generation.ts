import type { GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { generate } from "../domain/generate.ts";
import type { Told } from "../domain/generation.ts";
import type { ModelCaller } from "../domain/keys/callers-models.ts";
import { observeGeneration } from "../domain/observe-generation.ts";
import { decodeGeneration } from "./decode-generation.ts";
import { decodeNeeds } from "./decode-needs.ts";
import type { ModelServiceParts } from "./routes.ts";

export interface TellOptions {
  readonly caller: ModelCaller;
  readonly signal: AbortSignal;
  readonly remainingMilliseconds: number | undefined;
  /** Left out: nobody can come back for the answer. */
  readonly answerName?: string;
}

/** What a caller hears of a request. Both throw, this and what it resolves to. @throws ModelError */
export async function tellGeneration(
  { models, log }: Pick<ModelServiceParts, "models" | "log">,
  request: GenerateRequest,
  { caller, signal, remainingMilliseconds, answerName }: TellOptions,
): Promise<AsyncIterable<Told>> {
  const { model: wanted, route } = request;
  const { catalogue, router } = await models(caller);
  const target = catalogue.find(wanted);
  const generation = { ...decodeGeneration(request, target.name), ...(answerName === undefined ? {} : { answerName }) };
  const deltas = generate(target, generation, {
    signal,
    remainingMilliseconds,
    onRetry: ({ error, ...retry }) => log.warn({ ...retry, reason: error.reason, why: error.message }, "trying again"),
    next: router.next({ route, model: wanted, needs: decodeNeeds(request.fallbackNeeds) }, generation, signal),
  });
  return observeGeneration({ provider: target.providerName, model: target.name }, deltas, ({ model, why }) =>
    log.warn({ model: wanted, route, servedBy: model.id, why }, "another model answers"),
  );
}

import type { HandlerContext } from "@connectrpc/connect";
import type { GenerateRequest, GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { generate } from "../domain/generate.ts";
import { observeGeneration } from "../domain/observe-generation.ts";
import { callerOf } from "./caller-of.ts";
import { decodeGeneration } from "./decode-generation.ts";
import { decodeNeeds } from "./decode-needs.ts";
import { encodeDelta } from "./encode-delta.ts";
import type { ModelServiceParts } from "./routes.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export function generateHandler({ models, prices, log }: ModelServiceParts) {
  return async function* (request: GenerateRequest, context: HandlerContext): AsyncGenerator<GenerateResponse, void> {
    const { signal, remainingMilliseconds } = callContext(context);
    try {
      const { model: wanted, route } = request;
      const { catalogue, router } = await models(callerOf(context));
      const target = catalogue.find(wanted);
      const generation = decodeGeneration(request, target.name);
      const deltas = generate(target, generation, {
        signal,
        remainingMilliseconds: remainingMilliseconds(),
        onRetry: ({ error, ...retry }) => log.warn({ ...retry, reason: error.reason, why: error.message }, "trying again"),
        next: router.next({ route, model: wanted, needs: decodeNeeds(request.fallbackNeeds) }, generation, signal),
      });
      const observed = observeGeneration({ provider: target.providerName, model: target.name }, deltas);
      for await (const delta of observed) {
        if (delta.kind === "served-by")
          log.warn({ model: wanted, route, servedBy: delta.model.id, why: delta.why }, "another model answers");
        yield encodeDelta(delta, prices);
      }
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

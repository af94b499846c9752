import type { HandlerContext } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import type { GenerateRequest, GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { generate } from "../domain/generate.ts";
import type { ModelCatalogue } from "../domain/model-catalogue.ts";
import { observeGeneration } from "../domain/observe-generation.ts";
import { decodeGeneration } from "./decode-generation.ts";
import { encodeDelta } from "./encode-delta.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export function generateHandler(catalogue: ModelCatalogue, log: Log) {
  return async function* (request: GenerateRequest, context: HandlerContext): AsyncGenerator<GenerateResponse, void> {
    const { signal, remainingMilliseconds } = callContext(context);
    try {
      const { providerName, name, provider } = catalogue.find(request.model);
      const deltas = generate(providerName, provider, decodeGeneration(request, name), {
        signal,
        remainingMilliseconds: remainingMilliseconds(),
        onRetry: ({ attempt, waitMilliseconds, error }) =>
          log.warn({ model: request.model, attempt, waitMilliseconds, reason: error.reason, why: error.message }, "trying again"),
      });
      for await (const delta of observeGeneration({ provider: providerName, model: name }, deltas)) yield encodeDelta(delta);
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

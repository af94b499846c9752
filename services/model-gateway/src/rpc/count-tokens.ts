import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  CountTokensResponseSchema,
  GenerateRequestSchema,
  type CountTokensRequest,
  type CountTokensResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { callerOf } from "./caller-of.ts";
import type { ModelServiceParts } from "./routes.ts";
import { decodeGeneration } from "./decode-generation.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

/**
 * What the provider counts of a request before it is asked to answer it. Whoever wants to know has an estimate to fall back on,
 * so nothing is tried again.
 */
export function countTokensHandler({ models }: Pick<ModelServiceParts, "models">) {
  return async ({ model, messages, tools }: CountTokensRequest, context: HandlerContext): Promise<CountTokensResponse> => {
    try {
      const { catalogue } = await models(callerOf(context));
      const { name, provider } = catalogue.find(model);
      const generation = decodeGeneration(create(GenerateRequestSchema, { model, messages, tools }), name);
      const count = await provider.countTokens?.(generation, callContext(context).signal);
      return create(CountTokensResponseSchema, count === undefined ? {} : { inputTokens: BigInt(count) });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

import { create } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import {
  ListModelsResponseSchema,
  ModelService,
  ResolveModelResponseSchema,
  type ListModelsRequest,
  type ListModelsResponse,
  type ResolveModelRequest,
  type ResolveModelResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ModelCatalogue } from "../domain/model-catalogue.ts";
import type { PriceTable } from "../domain/price-table.ts";
import { countTokensHandler } from "./count-tokens.ts";
import { embedHandler } from "./embed.ts";
import { encodeModel } from "./encode-model.ts";
import { generateHandler } from "./generate.ts";
import { streamCallsHandler } from "./stream-calls.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export function routes(catalogue: ModelCatalogue, prices: PriceTable, log: Log): (router: ConnectRouter) => void {
  const generate = generateHandler(catalogue, log);
  return (router) => {
    router.service(ModelService, {
      generate,
      streamCalls: streamCallsHandler(generate),
      countTokens: countTokensHandler(catalogue),
      embed: embedHandler(catalogue),
      resolveModel: resolveModelHandler(catalogue, prices),
      listModels: listModelsHandler(catalogue, prices),
    });
  };
}

function resolveModelHandler(catalogue: ModelCatalogue, prices: PriceTable) {
  return async (request: ResolveModelRequest, context: HandlerContext): Promise<ResolveModelResponse> => {
    try {
      const model = await catalogue.resolve(request.model, callContext(context).signal);
      return create(ResolveModelResponseSchema, { model: encodeModel(model, prices) });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

function listModelsHandler(catalogue: ModelCatalogue, prices: PriceTable) {
  return async (_request: ListModelsRequest, context: HandlerContext): Promise<ListModelsResponse> => {
    try {
      const models = await catalogue.list(callContext(context).signal);
      return create(ListModelsResponseSchema, { models: models.map((model) => encodeModel(model, prices)) });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

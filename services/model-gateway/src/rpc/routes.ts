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
import type { Router } from "../domain/routing/router.ts";
import { decodeNeeds } from "./decode-needs.ts";
import { embedHandler } from "./embed.ts";
import { encodeModel } from "./encode-model.ts";
import { explainRouteHandler } from "./explain-route.ts";
import { generateHandler } from "./generate.ts";
import { streamCallsHandler } from "./stream-calls.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export interface ModelServiceParts {
  readonly catalogue: ModelCatalogue;
  readonly router: Router;
  readonly prices: PriceTable;
  readonly log: Log;
}

export function routes({ catalogue, router, prices, log }: ModelServiceParts): (rpc: ConnectRouter) => void {
  const generate = generateHandler({ catalogue, router, prices, log });
  return (rpc) => {
    rpc.service(ModelService, {
      generate,
      streamCalls: streamCallsHandler(generate),
      countTokens: countTokensHandler(catalogue),
      embed: embedHandler(catalogue),
      resolveModel: resolveModelHandler(router, prices),
      explainRoute: explainRouteHandler(router),
      listModels: listModelsHandler(router, prices),
    });
  };
}

function resolveModelHandler(router: Router, prices: PriceTable) {
  return async (request: ResolveModelRequest, context: HandlerContext): Promise<ResolveModelResponse> => {
    try {
      const { task, needs } = request;
      const { model, route } = await router.resolve(request.model, { task, needs: decodeNeeds(needs) }, callContext(context).signal);
      return create(ResolveModelResponseSchema, { model: { ...encodeModel(model, prices), route } });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

function listModelsHandler(router: Router, prices: PriceTable) {
  return async (_request: ListModelsRequest, context: HandlerContext): Promise<ListModelsResponse> => {
    try {
      const models = await router.list(callContext(context).signal);
      return create(ListModelsResponseSchema, { models: models.map((model) => encodeModel(model, prices)), routes: [...router.names] });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

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
import type { ModelCaller, Models } from "../domain/keys/callers-models.ts";
import type { PriceTable } from "../domain/price-table.ts";
import { countTokensHandler } from "./count-tokens.ts";
import { callerOf } from "./caller-of.ts";
import { decodeNeeds } from "./decode-needs.ts";
import { embedHandler } from "./embed.ts";
import { encodeModel } from "./encode-model.ts";
import { explainRouteHandler } from "./explain-route.ts";
import { generateHandler } from "./generate.ts";
import type { ResumableAnswers } from "./resumable-answers.ts";
import { streamCallsHandler } from "./stream-calls.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export interface ModelServiceParts {
  /** By the keys of who calls. */
  readonly models: (caller: ModelCaller) => Promise<Models>;
  readonly prices: PriceTable;
  readonly log: Log;
}

export function routes(parts: ModelServiceParts, resumable: ResumableAnswers): (rpc: ConnectRouter) => void {
  const generate = generateHandler(parts);
  return (rpc) => {
    rpc.service(ModelService, {
      generate,
      streamCalls: streamCallsHandler(generate, resumable),
      countTokens: countTokensHandler(parts),
      embed: embedHandler(parts),
      resolveModel: resolveModelHandler(parts),
      explainRoute: explainRouteHandler(parts),
      listModels: listModelsHandler(parts),
    });
  };
}

function resolveModelHandler({ models, prices }: ModelServiceParts) {
  return async (request: ResolveModelRequest, context: HandlerContext): Promise<ResolveModelResponse> => {
    try {
      const { task, needs } = request;
      const { router } = await models(callerOf(context));
      const { model, route } = await router.resolve(request.model, { task, needs: decodeNeeds(needs) }, callContext(context).signal);
      return create(ResolveModelResponseSchema, { model: { ...encodeModel(model, prices), route } });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

function listModelsHandler({ models, prices }: ModelServiceParts) {
  return async (_request: ListModelsRequest, context: HandlerContext): Promise<ListModelsResponse> => {
    try {
      const { router } = await models(callerOf(context));
      const listed = await router.list(callContext(context).signal);
      return create(ListModelsResponseSchema, { models: listed.map((model) => encodeModel(model, prices)), routes: [...router.names] });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

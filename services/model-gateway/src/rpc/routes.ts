import type { ConnectRouter } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ModelCatalogue } from "../domain/model-catalogue.ts";
import { generateHandler } from "./generate.ts";
import { listModelsHandler } from "./list-models.ts";
import { resolveModelHandler } from "./resolve-model.ts";
import { streamCallsHandler } from "./stream-calls.ts";

export function routes(catalogue: ModelCatalogue, log: Log): (router: ConnectRouter) => void {
  const generate = generateHandler(catalogue, log);
  return (router) => {
    router.service(ModelService, {
      generate,
      streamCalls: streamCallsHandler(generate),
      resolveModel: resolveModelHandler(catalogue),
      listModels: listModelsHandler(catalogue),
    });
  };
}

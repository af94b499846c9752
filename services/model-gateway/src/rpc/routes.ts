import type { ConnectRouter } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ModelCatalogue } from "../domain/model-catalogue.ts";
import { generateHandler } from "./generate.ts";
import { listModelsHandler } from "./list-models.ts";
import { resolveModelHandler } from "./resolve-model.ts";

export function routes(catalogue: ModelCatalogue, log: Log): (router: ConnectRouter) => void {
  return (router) => {
    router.service(ModelService, {
      generate: generateHandler(catalogue, log),
      resolveModel: resolveModelHandler(catalogue),
      listModels: listModelsHandler(catalogue),
    });
  };
}

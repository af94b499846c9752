import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { ListModelsResponseSchema, type ListModelsRequest, type ListModelsResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ModelCatalogue } from "../domain/model-catalogue.ts";
import { encodeModel } from "./encode-model.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export function listModelsHandler(catalogue: ModelCatalogue) {
  return async (_request: ListModelsRequest, context: HandlerContext): Promise<ListModelsResponse> => {
    try {
      const models = await catalogue.list(callContext(context).signal);
      return create(ListModelsResponseSchema, { models: models.map(encodeModel) });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { ResolveModelResponseSchema, type ResolveModelRequest, type ResolveModelResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ModelCatalogue } from "../domain/model-catalogue.ts";
import { encodeModel } from "./encode-model.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export function resolveModelHandler(catalogue: ModelCatalogue) {
  return async (request: ResolveModelRequest, context: HandlerContext): Promise<ResolveModelResponse> => {
    try {
      const model = await catalogue.resolve(request.model, callContext(context).signal);
      return create(ResolveModelResponseSchema, { model: encodeModel(model) });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

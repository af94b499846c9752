import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { ExplainRouteResponseSchema, type ExplainRouteRequest, type ExplainRouteResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { AUTO } from "../domain/routing/route.ts";
import { callerOf } from "./caller-of.ts";
import type { ModelServiceParts } from "./routes.ts";
import { decodeNeeds } from "./decode-needs.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

/** What a route would choose for a task, and why. */
export function explainRouteHandler({ models }: Pick<ModelServiceParts, "models">) {
  return async ({ route, task, needs }: ExplainRouteRequest, context: HandlerContext): Promise<ExplainRouteResponse> => {
    try {
      const { router } = await models(callerOf(context));
      const explained = await router.explain(route || AUTO, { task, needs: decodeNeeds(needs) }, callContext(context).signal);
      return create(ExplainRouteResponseSchema, {
        route: explained.route,
        candidates: explained.ranked.map(({ model, score, parts, share = 0 }) => ({
          model: model.id,
          score,
          parts: parts.map((part) => ({ ...part })),
          share,
        })),
        filtered: explained.leftOut.map(({ id, reason, why }) => ({ model: id, reason, why })),
        words: explained.words.map((word) => ({ ...word })),
      });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

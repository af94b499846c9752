import type { HandlerContext } from "@connectrpc/connect";
import type { GenerateRequest, GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { callerOf } from "./caller-of.ts";
import { encodeDelta } from "./encode-delta.ts";
import { mapped } from "./mapped.ts";
import type { ModelServiceParts } from "./routes.ts";
import { answerEvents } from "./answer-events.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export function generateHandler(parts: ModelServiceParts) {
  return (request: GenerateRequest, context: HandlerContext): AsyncIterable<GenerateResponse> =>
    mapped(
      async () => {
        const { signal, remainingMilliseconds } = callContext(context);
        return answerEvents(parts, request, { caller: callerOf(context), signal, remainingMilliseconds: remainingMilliseconds() });
      },
      (event) => encodeDelta(event, parts.prices),
      toModelConnectError,
    );
}

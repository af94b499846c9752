import type { HandlerContext } from "@connectrpc/connect";
import type { GenerateRequest, GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { callerOf } from "./caller-of.ts";
import { encodeDelta } from "./encode-delta.ts";
import type { ModelServiceParts } from "./routes.ts";
import { answerEvents } from "./answer-events.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

export function generateHandler(parts: ModelServiceParts) {
  return async function* (request: GenerateRequest, context: HandlerContext): AsyncGenerator<GenerateResponse, void> {
    const { signal, remainingMilliseconds } = callContext(context);
    try {
      const options = { caller: callerOf(context), signal, remainingMilliseconds: remainingMilliseconds() };
      for await (const delta of await answerEvents(parts, request, options)) yield encodeDelta(delta, parts.prices);
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

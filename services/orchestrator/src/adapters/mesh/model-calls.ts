import type { Client } from "@connectrpc/connect";
import { CallStream } from "@hlvm/call-stream/call-stream";
import type { SharedCallStreams } from "@hlvm/call-stream/shared-call-streams";
import { ModelService, type StreamCallsRequest, type StreamCallsResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { streamOptions } from "./mesh-caller.ts";

type Request = StreamCallsRequest["request"];
type Response = StreamCallsResponse["response"];
export type ModelCalls = CallStream<Request, Response>;
/** On which all runs of this process ask their models. */
export type SharedModelCalls = SharedCallStreams<Request, Response>;

/** A stream of calls to the model gateway. */
export function openModelCalls(client: Pick<Client<typeof ModelService>, "streamCalls">, isShared: boolean): ModelCalls {
  return new CallStream(
    ModelService.method.streamCalls,
    (requests, token, signal) => client.streamCalls(requests, streamOptions(token, signal)),
    { isShared },
  );
}

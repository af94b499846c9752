import { createClient, type Transport } from "@connectrpc/connect";
import { RunPolicyService, type StreamCallsRequest, type StreamCallsResponse } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { CallStream } from "@hlvm/call-stream/call-stream";
import type { MeshCaller } from "./mesh-caller.ts";

/** What a run asks of policy in every turn, on one stream. */
export type PolicyCalls = CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>;

export function policyCalls(transport: Transport, caller: MeshCaller): PolicyCalls {
  const client = createClient(RunPolicyService, transport);
  return new CallStream(RunPolicyService.method.streamCalls, (requests, token, signal) =>
    client.streamCalls(requests, caller.stream(token, signal)),
  );
}

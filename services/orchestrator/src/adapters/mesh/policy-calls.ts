import { createClient, type Transport } from "@connectrpc/connect";
import type { RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { RunPolicyService, type StreamCallsRequest, type StreamCallsResponse } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { CallStream } from "@hlvm/call-stream/call-stream";
import type { StreamedRequest } from "@hlvm/call-stream/open-stream";
import { streamOptions } from "./mesh-caller.ts";

type Request = StreamCallsRequest["request"] & { readonly endedCalls?: readonly RecordOutcomeRequest[] };
type Response = StreamCallsResponse["response"] & { readonly recordedCallIds: readonly string[] };

/** What a run asks of policy in every turn, on one stream. */
export type PolicyCalls = CallStream<Request, Response>;

export function policyCalls(transport: Transport): PolicyCalls {
  const client = createClient(RunPolicyService, transport);
  return new CallStream(RunPolicyService.method.streamCalls, (requests, token, signal) =>
    withRecordedCalls(client.streamCalls(withEndedCalls(requests), streamOptions(token, signal))),
  );
}

/** The contract has the ended calls beside the request, since the audit log's messages know policy's and not the other way round. */
async function* withEndedCalls(requests: AsyncIterable<StreamedRequest<Request>>) {
  for await (const { head, request } of requests)
    yield { head, request, endedCalls: "endedCalls" in request ? [...(request.endedCalls ?? [])] : [] };
}

async function* withRecordedCalls(responses: AsyncIterable<StreamCallsResponse>): AsyncGenerator<{ id: number; response: Response }, void> {
  for await (const { id, response, recordedCallIds } of responses) yield { id, response: { ...response, recordedCallIds } };
}

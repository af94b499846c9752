import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { RecordOutcomeRequestSchema, type AuditService, type RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolCall } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { RunPolicyService, StreamCallsRequest, StreamCallsResponseSchema } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import { streamServer, type StreamServer } from "@hlvm/rpc/stream-server";
import type { Outcome } from "../domain/audit/outcome-event.ts";
import type { Decide } from "./decide.ts";
import { decodeOutcome } from "./decode-outcome.ts";

type Response = NonNullable<MessageInitShape<typeof StreamCallsResponseSchema>["response"]>;
type Asked = StreamCallsRequest["request"] & { readonly endedCalls: readonly RecordOutcomeRequest[] };
type Answered = Response & { readonly recordedCallIds?: readonly string[] };

/** Of one decision; a turn may have so many calls, and some. */
const MAXIMUM_ENDED_CALLS = 64;

/** What a run asks in every turn, answered by the methods that everybody else calls one by one. */
export function streamCallsMethod(
  decide: Decide,
  recordOutcome: ServiceImpl<typeof AuditService>["recordOutcome"],
): ServiceImpl<typeof RunPolicyService>["streamCalls"] {
  return async function* (requests, context) {
    const { validator } = streamServer(context);
    async function* answer(request: Asked, ofCall: HandlerContext): AsyncGenerator<Answered, void> {
      if (request.case === "decide") {
        const ended = outcomesOf(request.endedCalls, request.value.call, validator);
        const { response, recordedCallIds } = await decide(request.value, ofCall, ended);
        yield { case: "decide", value: response, recordedCallIds };
      }
      if (request.case === "recordOutcome") yield { case: "recordOutcome", value: await recordOutcome(request.value, ofCall) };
    }
    for await (const { id, response } of answerCalls(withEndedCalls(requests), context, { answer, isLast: () => true })) {
      const recordedCallIds = response !== undefined && "recordedCallIds" in response ? [...(response.recordedCallIds ?? [])] : [];
      yield { id, response, recordedCallIds };
    }
  };
}

async function* withEndedCalls(
  requests: AsyncIterable<StreamCallsRequest>,
): AsyncGenerator<Pick<StreamCallsRequest, "head"> & { request: Asked }> {
  for await (const { head, request, endedCalls } of requests) yield { head, request: { ...request, endedCalls } };
}

/** Those of the call's own run that are well-formed. Of the others nothing is recorded: told by themselves they get their own error. */
function outcomesOf(ended: readonly RecordOutcomeRequest[], call: ToolCall | undefined, validator: StreamServer["validator"]): Outcome[] {
  return ended.slice(0, MAXIMUM_ENDED_CALLS).flatMap((one) => {
    if (one.sessionId !== call?.sessionId || one.runId !== call.runId) return [];
    if (validator.validate(RecordOutcomeRequestSchema, one).kind !== "valid") return [];
    try {
      return [decodeOutcome(one)];
    } catch {
      return [];
    }
  });
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { RunPolicyService, StreamCallsRequest, StreamCallsResponseSchema } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { answerCalls } from "@hlvm/call-stream/answer-calls";

type Response = NonNullable<MessageInitShape<typeof StreamCallsResponseSchema>["response"]>;

/** What a run asks in every turn, answered by the methods that everybody else calls one by one. */
export function streamCallsMethod(
  decide: ServiceImpl<typeof PolicyService>["decide"],
  recordOutcome: ServiceImpl<typeof AuditService>["recordOutcome"],
): ServiceImpl<typeof RunPolicyService>["streamCalls"] {
  async function* answer(request: StreamCallsRequest["request"], context: HandlerContext): AsyncGenerator<Response, void> {
    if (request.case === "decide") yield { case: "decide", value: await decide(request.value, context) };
    if (request.case === "recordOutcome") yield { case: "recordOutcome", value: await recordOutcome(request.value, context) };
  }
  return (requests, context) => answerCalls(requests, context, { answer, isLast: () => true });
}

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import type { RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { RunPolicyService, StreamCallsRequest } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Seen } from "./fake-services.ts";
import type { Behaviour } from "./usual-behaviour.ts";

type Asked = StreamCallsRequest["request"] & { readonly endedCalls: readonly RecordOutcomeRequest[] };

/** The stream of runs, answered as policy does: what came of earlier calls goes on record with the next decision. */
export function fakeRunPolicy(
  behaviour: Behaviour,
  seen: Seen,
  note: (context: HandlerContext, method?: string) => void,
): ServiceImpl<typeof RunPolicyService>["streamCalls"] {
  async function record(outcome: RecordOutcomeRequest, context: HandlerContext): Promise<void> {
    note(context, "AuditService/RecordOutcome");
    await behaviour.recordOutcome(outcome);
    seen.outcomes.push(outcome);
  }

  async function recordEnded(ended: readonly RecordOutcomeRequest[], context: HandlerContext): Promise<string[]> {
    const recording = ended.map((outcome) => record(outcome, context).then(() => outcome.callId));
    return (await Promise.allSettled(recording)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  async function* answer(request: Asked, context: HandlerContext) {
    if (request.case === "decide") {
      note(context, "PolicyService/Decide");
      seen.decided.push(request.value);
      seen.modes.set(request.value.call?.callId ?? "", callContext(context).delegation?.settings.mode ?? 0);
      const verdict = await behaviour.decide(request.value);
      yield { case: "decide" as const, value: { verdict }, recordedCallIds: await recordEnded(request.endedCalls, context) };
    }
    if (request.case === "recordOutcome") {
      await record(request.value, context);
      yield { case: "recordOutcome" as const, value: { id: BigInt(seen.outcomes.length) }, recordedCallIds: [] };
    }
  }

  return async function* (requests, context) {
    for await (const { id, response } of answerCalls(withEndedCalls(requests), context, { answer, isLast: () => true }))
      yield { id, response, recordedCallIds: response !== undefined && "recordedCallIds" in response ? response.recordedCallIds : [] };
  };
}

async function* withEndedCalls(requests: AsyncIterable<StreamCallsRequest>) {
  for await (const { head, request, endedCalls } of requests) yield { head, request: { ...request, endedCalls } };
}

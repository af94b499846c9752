import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { DecideRequest, DecideResponseSchema, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Trust, type TrustFloor } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { QUESTION_RENDERING_BYTES, type RenderApproval } from "../domain/approval/approval-renderer.ts";
import type { Outcome } from "../domain/audit/outcome-event.ts";
import { decideCall, type DecideCallPorts } from "../domain/decide-call.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import type { CurrentRoles } from "../domain/identity/current-roles.ts";
import { judgeCalls, type JudgeCallsPorts } from "../domain/judge-calls.ts";
import { observeDecision } from "../domain/observe-decision.ts";
import { encodeVerdict } from "./encode-verdict.ts";
import { requestIncomplete, settingsOfDelegation } from "./decode-settings.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";

/** @param ended what came of earlier calls of the run, to be committed with the decision */
export type Decide = (
  request: DecideRequest,
  context: HandlerContext,
  ended?: readonly Outcome[],
) => Promise<{ readonly response: MessageInitShape<typeof DecideResponseSchema>; readonly recordedCallIds: readonly string[] }>;

/** Whoever calls may name no settings: they are those that the person delegated. Of their roles those count that they still have. */
export function decideMethod(ports: DecideCallPorts, render: RenderApproval, roles: CurrentRoles): Decide {
  return async ({ call, trustFloor, repeatsCallId }, context, ended) => {
    const { principal, delegation, traceId } = callContext(context);
    if (call === undefined) throw requestIncomplete("call", "request");
    const delegated = demandDelegation(delegation, call);
    refuseControlCharacters({ call_id: call.callId, "trust_floor.source": trustFloor?.source ?? "", repeats_call_id: repeatsCallId });
    const { verdict, recordedCallIds } = await observeDecision(async () =>
      decideCall(ports, {
        principal: await roles.within(principal),
        call,
        settings: settingsOfDelegation(delegated),
        traceId,
        externalSource: externalIn(trustFloor),
        repeats: repeatsCallId || undefined,
        ended,
      }),
    );
    const rendering = verdict.approval && (await render(verdict.approval, QUESTION_RENDERING_BYTES));
    return { response: { verdict: encodeVerdict(verdict, rendering) }, recordedCallIds };
  };
}

/** Under the settings of the delegation as well: nobody asks what the rules would say under others. */
export function judgeCallsMethod(ports: JudgeCallsPorts, roles: CurrentRoles): ServiceImpl<typeof PolicyService>["judgeCalls"] {
  return async ({ calls }, context) => {
    const { principal, delegation } = callContext(context);
    const settings = settingsOfDelegation(demandDelegation(delegation));
    const imagined = calls.map(({ tool, argumentsJson, trustFloor }) => ({ tool, argumentsJson, externalSource: externalIn(trustFloor) }));
    return {
      verdicts: (await judgeCalls(ports, await roles.within(principal), settings, imagined)).map((verdict) => encodeVerdict(verdict)),
    };
  };
}

function externalIn(floor: TrustFloor | undefined): string | undefined {
  return floor?.trust === Trust.EXTERNAL ? floor.source || "unnamed" : undefined;
}

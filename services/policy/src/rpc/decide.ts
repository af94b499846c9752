import type { ServiceImpl } from "@connectrpc/connect";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { QUESTION_RENDERING_BYTES, type RenderApproval } from "../domain/approval/approval-renderer.ts";
import { decideCall, type DecideCallPorts } from "../domain/decide-call.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { observeDecision } from "../domain/observe-decision.ts";
import { encodeVerdict } from "./encode-verdict.ts";
import { requestIncomplete, settingsOfDelegation } from "./decode-settings.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";

/** Whoever calls may name no settings: they are those that the person delegated. */
export function decideMethod(ports: DecideCallPorts, render: RenderApproval): ServiceImpl<typeof PolicyService>["decide"] {
  return async ({ call, trustFloor, repeatsCallId }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    if (call === undefined) throw requestIncomplete("call", "request");
    const delegated = demandDelegation(delegation, call);
    refuseControlCharacters({ call_id: call.callId, "trust_floor.source": trustFloor?.source ?? "", repeats_call_id: repeatsCallId });
    const externalSource = trustFloor?.trust === Trust.EXTERNAL ? trustFloor.source || "unnamed" : undefined;
    const verdict = await observeDecision(() =>
      decideCall(ports, {
        principal,
        call,
        settings: settingsOfDelegation(delegated),
        traceId,
        externalSource,
        repeats: repeatsCallId || undefined,
      }),
    );
    const rendering = verdict.approval && (await render(verdict.approval, QUESTION_RENDERING_BYTES));
    return { verdict: encodeVerdict(verdict, rendering) };
  };
}

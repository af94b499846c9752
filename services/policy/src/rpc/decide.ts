import type { ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { PermissionSettings as Settings, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { QUESTION_RENDERING_BYTES, type RenderApproval } from "../domain/approval/approval-renderer.ts";
import { decideCall, type DecideCallPorts } from "../domain/decide-call.ts";
import type { PermissionSettings } from "../domain/decide/decision.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { observeDecision } from "../domain/observe-decision.ts";
import { encodeVerdict } from "./encode-verdict.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { modes, wordOf } from "./words.ts";

/** Whoever calls may name no settings: they are those that the person delegated. */
export function decideMethod(ports: DecideCallPorts, render: RenderApproval): ServiceImpl<typeof PolicyService>["decide"] {
  return async ({ call }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    if (call === undefined) throw incomplete("call", "request");
    const { settings } = demandDelegation(delegation, call);
    refuseControlCharacters({ call_id: call.callId });
    const verdict = await observeDecision(() => decideCall(ports, principal, traceId, call, decodeSettings(settings)));
    const rendering = verdict.approval && (await render(verdict.approval, QUESTION_RENDERING_BYTES));
    return { verdict: encodeVerdict(verdict, rendering) };
  };
}

function decodeSettings({ mode: number, allowedTools, disallowedTools, canAsk }: Settings): PermissionSettings {
  const mode = wordOf(modes, number);
  if (mode === undefined) throw incomplete("mode", "delegation");
  return { mode, allowedTools, disallowedTools, canAsk };
}

function incomplete(what: string, where: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "request_incomplete",
    message: `The ${where} holds no ${what}.`,
    advice: "Nothing is decided without; send it.",
  });
}

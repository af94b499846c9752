import type { ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { PermissionSettings as Settings, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { QUESTION_RENDERING_BYTES, type RenderApproval } from "../domain/approval/approval-renderer.ts";
import { decideCall, type DecideCallPorts } from "../domain/decide-call.ts";
import type { PermissionSettings } from "../domain/decide/decision.ts";
import { encodeVerdict } from "./encode-verdict.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { modes, wordOf } from "./words.ts";

export function decideMethod(ports: DecideCallPorts, render: RenderApproval): ServiceImpl<typeof PolicyService>["decide"] {
  return async ({ call, settings }, context) => {
    const { principal, traceId } = callContext(context);
    if (call === undefined) throw incomplete("a call");
    refuseControlCharacters({ call_id: call.callId });
    const verdict = await decideCall(ports, principal, traceId, call, decodeSettings(settings));
    const rendering = verdict.approval && (await render(verdict.approval, QUESTION_RENDERING_BYTES));
    return { verdict: encodeVerdict(verdict, rendering) };
  };
}

function decodeSettings(settings: Settings | undefined): PermissionSettings {
  const mode = wordOf(modes, settings?.mode ?? 0);
  if (settings === undefined || mode === undefined) throw incomplete("permission settings with a mode");
  const { allowedTools, disallowedTools, canAsk } = settings;
  return { mode, allowedTools, disallowedTools, canAsk };
}

function incomplete(what: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "request_incomplete",
    message: `The request holds no ${what}.`,
    advice: "Nothing is decided without; send it.",
  });
}

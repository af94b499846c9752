import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { PermissionSettings as Settings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { PermissionSettings } from "../domain/decide/decision.ts";
import { modes, wordOf } from "./words.ts";

/** The settings of a delegation. @throws HlvmError `request_incomplete`, `unknown_value`: nothing is decided under a mode that nobody knows */
export function decodeSettings({ mode: number, allowedTools, disallowedTools, canAsk }: Settings): PermissionSettings {
  const mode = wordOf(modes, number);
  if (mode === undefined) throw requestIncomplete("mode", "delegation");
  return { mode, allowedTools, disallowedTools, canAsk };
}

export function requestIncomplete(what: string, where: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "request_incomplete",
    message: `The ${where} holds no ${what}.`,
    advice: "Nothing is decided without; send it.",
  });
}

import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation } from "@hlvm/identity/delegation";
import type { PermissionSettings as Settings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { PermissionSettings } from "../domain/decide/decision.ts";
import { modes, wordOf } from "./words.ts";

/**
 * The settings of a delegation, within those that it was narrowed from.
 * @throws HlvmError as `decodeSettings`
 */
export function settingsOfDelegation({ settings, within }: Pick<Delegation, "settings" | "within">): PermissionSettings {
  return [...within, settings].map(decodeSettings).reduce((outer, inner) => ({ ...inner, within: outer }));
}

/** What one part of a delegation sets. @throws HlvmError `request_incomplete`, `unknown_value`: nothing is decided under a mode that nobody knows */
function decodeSettings({ mode: number, allowedTools, disallowedTools, canAsk, onlyTools }: Settings): PermissionSettings {
  const mode = wordOf(modes, number);
  if (mode === undefined) throw requestIncomplete("mode", "delegation");
  return { mode, allowedTools, disallowedTools, canAsk, onlyTools: onlyTools?.tools };
}

export function requestIncomplete(what: string, where: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "request_incomplete",
    message: `The ${where} holds no ${what}.`,
    advice: "Nothing is decided without; send it.",
  });
}

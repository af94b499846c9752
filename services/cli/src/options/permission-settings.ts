import { permissionModeOf } from "@hlvm/ndjson/permission-mode";
import type { PermissionModeName } from "@hlvm/ndjson/permission-mode-name";
import { wrongUsage } from "./wrong-usage.ts";

export interface PermissionFlags {
  readonly print?: boolean;
  readonly permissionMode?: PermissionModeName;
  readonly autoEdit?: boolean;
  readonly dangerouslySkipPermissions?: boolean;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
}

/**
 * What the flags allow. With --print and no mode nobody is asked and nothing but reading is done.
 * @throws HlvmError wrong usage, where two flags name different modes
 */
export function permissionSettings(flags: PermissionFlags, canAsk: boolean) {
  return {
    mode: permissionModeOf(modeName(flags)),
    allowedTools: [...(flags.allowedTools ?? [])],
    disallowedTools: [...(flags.disallowedTools ?? [])],
    canAsk,
  };
}

function modeName(flags: PermissionFlags): PermissionModeName {
  const named = new Set<PermissionModeName>();
  if (flags.permissionMode !== undefined) named.add(flags.permissionMode);
  if (flags.autoEdit === true) named.add("acceptEdits");
  if (flags.dangerouslySkipPermissions === true) named.add("bypassPermissions");
  if (named.size > 1) throw wrongUsage(`The flags name different permission modes: ${[...named].join(", ")}.`, "Give one of them.");
  const [name] = named;
  return name ?? (flags.print === true ? "dontAsk" : "default");
}

import { PermissionModeSchema, type PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { enumWord } from "./enum-word.ts";
import { camelCase } from "./camel-case.ts";
import type { PermissionModeName } from "./permission-mode-name.ts";

/** A permission mode as a flag or a setting spells it. Of a number that this version does not know, the number. */
export function permissionModeWord(mode: PermissionMode): string {
  return camelCase(enumWord(PermissionModeSchema, mode));
}

export function permissionModeOf(name: PermissionModeName): PermissionMode {
  const modes = PermissionModeSchema.values.map(({ number }) => number as PermissionMode);
  return modes.find((mode) => permissionModeWord(mode) === name)!;
}

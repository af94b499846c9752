import { PermissionModeSchema, type PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { enumWord } from "./enum-word.ts";

/** A permission mode as a flag or a setting spells it: `acceptEdits`. */
export function permissionModeWord(mode: PermissionMode): string {
  return enumWord(PermissionModeSchema, mode).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

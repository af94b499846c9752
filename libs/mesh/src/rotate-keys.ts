import type { ErrorFields } from "@hlvm/errors/hlvm-error";
import { askSupervisor } from "./ask-supervisor.ts";
import { ROTATE_KEYS } from "./control-protocol.ts";

const DEADLINE_MILLISECONDS = 30_000;

export interface RotatedKeys {
  /** Each service that signs, with the name of its new key and of the one before. */
  readonly rotated: readonly { readonly service: string; readonly kid: string; readonly replaced: string }[];
  /** ISO 8601. Until then counts what the replaced keys signed. */
  readonly replacedCountUntil: string;
}

/** What the supervisor answers. */
export type RotationAnswer = RotatedKeys | { readonly failed: ErrorFields };

/**
 * Has the supervisor of a mesh give every service that signs a new key. Nothing is interrupted; it takes some two seconds.
 * @throws HlvmError `mesh_gone`, or the supervisor's own
 */
export function rotateKeys(controlSocket: string): Promise<RotatedKeys> {
  const asked = { message: ROTATE_KEYS, deadlineMilliseconds: DEADLINE_MILLISECONDS, unfinished: "it had rotated its keys" };
  return askSupervisor(controlSocket, asked);
}

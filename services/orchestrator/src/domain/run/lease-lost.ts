import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Whether something was refused because another process holds the run. */
export function isLeaseLost(cause: unknown): boolean {
  return cause instanceof HlvmError && cause.reason === "lease_lost";
}

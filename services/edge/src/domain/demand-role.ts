import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Role } from "@hlvm/identity/principal";
import type { Caller } from "./authenticator.ts";

/**
 * Refuses at the door who has none of the roles that a method could be used with; which one it takes in the very case, the
 * service behind it decides.
 * @param needed empty: everybody who is let in; undefined: other code answers @throws HlvmError `role_missing`
 */
export function demandRole({ principal }: Caller, needed: readonly Role[] | undefined, what: string): void {
  if (needed === undefined || needed.length === 0 || needed.some((role) => principal.roles.includes(role))) return;
  throw new HlvmError({
    code: "permission_denied",
    reason: "role_missing",
    message: `${principal.id} may not call ${what}: that takes the role ${needed.join(" or ")}.`,
    advice: "Ask an administrator of your organization for the role.",
  });
}

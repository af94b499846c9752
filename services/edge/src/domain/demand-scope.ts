import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Caller, Scope } from "./authenticator.ts";

/** Which scopes, one of them, a token needs for a method; `person`: no token will do. */
export type NeededScopes = readonly Scope[] | "person";

/** @throws HlvmError `scope_missing` where a token came that is not good for this; `person_needed` where none is */
export function demandScope({ principal, scopes }: Caller, needed: NeededScopes | undefined, what: string): void {
  if (scopes === undefined || needed === undefined) return;
  if (needed === "person")
    throw new HlvmError({
      code: "permission_denied",
      reason: "person_needed",
      message: `${what} is for ${principal.id} in person, and not for a token of theirs.`,
      advice: "Do it where you are logged in yourself.",
    });
  if (needed.some((scope) => scopes.includes(scope))) return;
  throw new HlvmError({
    code: "permission_denied",
    reason: "scope_missing",
    message: `${what} takes a token with the scope ${needed.join(" or ")}; this one has ${scopes.join(", ")}.`,
    advice: "Make another token: `hlvm token create LABEL --scope …`.",
  });
}

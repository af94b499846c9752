import { HlvmError } from "@hlvm/errors/hlvm-error";
import { verifyJws } from "@hlvm/identity/compact-jws";
import type { PublicKeys } from "@hlvm/identity/public-keys";
import type { Enforcement, Grant } from "./grant.ts";

/** What is about to run, as the executor itself computed it from the bytes in hand. */
export type GrantedCall = Pick<
  Grant,
  "organization" | "principal" | "sessionId" | "runId" | "callId" | "tool" | "definitionHash" | "argumentsHash"
>;

const CALL_FIELDS = ["organization", "principal", "sessionId", "runId", "callId", "tool", "definitionHash", "argumentsHash"] as const;

const ISSUER = "policy";

/**
 * The executor's gate: lets a call through only with a grant that was signed for exactly that call, each grant once. Policy may
 * give a call another grant: that the call itself happens once is what the executor's receipts see to.
 */
export class GrantGate {
  readonly #keys: PublicKeys;
  /** Grant id → seconds since 1970 when it expires and can be forgotten. */
  readonly #used = new Map<string, number>();

  constructor(keys: PublicKeys) {
    this.#keys = keys;
  }

  /** @returns what the call is to be held to. @throws HlvmError `grant_refused`, which says what does not fit */
  pass(token: string, call: GrantedCall): Enforcement {
    return this.use(this.verify(token, call));
  }

  /** Looks at a grant without using it up. @throws HlvmError `grant_refused`, which says what does not fit */
  verify(token: string, call: GrantedCall): Grant {
    const grant = this.#policys(token);
    requireAlive(grant, secondsNow());
    for (const field of CALL_FIELDS) if (grant[field] !== call[field]) throw refused(`it was given for another ${field}`);
    return grant;
  }

  /** Uses up a grant that `verify` returned. @throws HlvmError `grant_refused` where it was used before, or has expired since */
  use(grant: Grant): Enforcement {
    const now = secondsNow();
    requireAlive(grant, now);
    this.#forgetExpired(now);
    if (this.#used.has(grant.id)) throw refused("it was used before");
    this.#used.set(grant.id, grant.expiresAt);
    return grant;
  }

  /** For a call that was let through and did not start: until it expires, its grant can be used once again. */
  giveBack(grant: Grant): void {
    this.#used.delete(grant.id);
  }

  #policys(token: string): Grant {
    try {
      const { claims, signer } = verifyJws(token, "hlvm-grant+jwt", this.#keys);
      if (signer.service === ISSUER && isGrant(claims)) return claims;
    } catch (cause) {
      throw refused((cause as Error).message);
    }
    throw refused("it is not policy's");
  }

  /** All live equally long and are kept in the order of their use, so that those which have expired come first. */
  #forgetExpired(now: number): void {
    for (const [id, expiresAt] of this.#used) {
      if (expiresAt > now) return;
      this.#used.delete(id);
    }
  }
}

function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}

function requireAlive({ expiresAt }: Grant, now: number): void {
  if (expiresAt <= now) throw refused("it has expired");
}

function isGrant(payload: object): payload is Grant {
  const { id, expiresAt, profile, protectedPaths } = payload as Partial<Grant>;
  return typeof id === "string" && Number.isSafeInteger(expiresAt) && profile !== undefined && Array.isArray(protectedPaths);
}

function refused(why: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "grant_refused",
    message: `The grant does not allow this call: ${why}.`,
    advice: "Ask policy to decide on this call again.",
  });
}

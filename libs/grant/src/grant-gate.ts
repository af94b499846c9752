import { jwtVerify, type JWTVerifyGetKey } from "jose";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Grant } from "./grant.ts";
import { GRANT_AUDIENCE } from "./grant-signer.ts";
import { SIGNING_ALGORITHM } from "@hlvm/identity/signing-key";

/** What is about to run, as the executor itself computed it from the bytes in hand. */
export type GrantedCall = Pick<
  Grant,
  "organization" | "principal" | "sessionId" | "runId" | "callId" | "tool" | "definitionHash" | "argumentsHash"
>;

/** The executor's gate: lets a call through once, and only with a grant that was signed for exactly that call. */
export class GrantGate {
  readonly #keys: JWTVerifyGetKey;
  /** Grant id → seconds since 1970 when it expires and can be forgotten. */
  readonly #used = new Map<string, number>();

  constructor(keys: JWTVerifyGetKey) {
    this.#keys = keys;
  }

  /** @throws HlvmError `grant_refused`, which says what does not fit */
  async pass(token: string, call: GrantedCall): Promise<void> {
    const grant = await this.#verify(token);
    for (const field of Object.keys(call) as (keyof GrantedCall)[])
      if (grant[field] !== call[field]) throw refused(`it was given for another ${field}`);
    this.#forgetExpired();
    if (this.#used.has(grant.id)) throw refused("it was used before");
    this.#used.set(grant.id, grant.expiresAt);
  }

  async #verify(token: string): Promise<Grant> {
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        algorithms: [SIGNING_ALGORITHM],
        audience: GRANT_AUDIENCE,
        requiredClaims: ["sub", "jti", "exp"],
      });
      return { ...(payload as unknown as Grant), id: payload.jti!, principal: payload.sub!, expiresAt: payload.exp! };
    } catch (cause) {
      throw refused("its signature or its time does not hold", cause);
    }
  }

  #forgetExpired(): void {
    const now = Math.floor(Date.now() / 1000);
    for (const [id, expiresAt] of this.#used) if (expiresAt < now) this.#used.delete(id);
  }
}

function refused(why: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "grant_refused",
    message: `The grant does not allow this call: ${why}.`,
    advice: "Ask policy to decide on this call again.",
    cause,
  });
}

import { jwtVerify, type JWTVerifyGetKey } from "jose";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ROLES, type Principal, type Role } from "./principal.ts";
import { SIGNING_ALGORITHM } from "./signing-key.ts";
import { TOKEN_AUDIENCE } from "./token-minter.ts";

const MAXIMUM_REMEMBERED = 1_000;

interface Verified {
  readonly principal: Principal;
  readonly expiresAt: number;
}

/** Tells from a token who is calling. A token that was good stays good until it expires, without another signature check. */
export class TokenVerifier {
  readonly #keys: JWTVerifyGetKey;
  readonly #verified = new Map<string, Verified>();

  constructor(keys: JWTVerifyGetKey) {
    this.#keys = keys;
  }

  /** @throws HlvmError `token_refused` */
  async verify(token: string): Promise<Principal> {
    const known = this.#verified.get(token);
    if (known !== undefined && known.expiresAt > Date.now()) return known.principal;
    this.#verified.delete(token);
    const verified = await this.#check(token);
    if (this.#verified.size >= MAXIMUM_REMEMBERED) this.#verified.clear();
    this.#verified.set(token, verified);
    return verified.principal;
  }

  async #check(token: string): Promise<Verified> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys, {
        algorithms: [SIGNING_ALGORITHM],
        audience: TOKEN_AUDIENCE,
        requiredClaims: ["sub", "iss", "exp", "organization", "roles"],
      });
      if (payload.iss !== protectedHeader.kid) throw new Error("issuer and key differ");
      const { organization, roles } = payload;
      if (typeof organization !== "string" || organization === "" || !Array.isArray(roles)) throw new Error("claims are malformed");
      const unknown = roles.find((role) => !ROLES.includes(role as Role));
      if (unknown !== undefined) throw new Error(`there is no role ${String(unknown)}`);
      return {
        principal: { organization, id: payload.sub!, roles: roles as Role[] },
        expiresAt: payload.exp! * 1000,
      };
    } catch (cause) {
      throw new HlvmError({
        code: "unauthenticated",
        reason: "token_refused",
        message: "The call carries no token that this service accepts.",
        advice: "Call through the edge; it gives every call its token.",
        cause,
      });
    }
  }
}

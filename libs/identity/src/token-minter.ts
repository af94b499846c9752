import { SignJWT } from "jose";
import type { Principal } from "./principal.ts";
import { SIGNING_ALGORITHM, type SigningKey } from "./signing-key.ts";

export const TOKEN_AUDIENCE = "hlvm-mesh";
const LIFETIME_SECONDS = 120;
const REUSE_SECONDS = 60;

interface Minted {
  readonly token: string;
  readonly reuseUntil: number;
}

/**
 * Signs the internal token that every call in the mesh carries. A token lives 120 s and is handed out again for
 * half of that, since signing costs more than a map look-up.
 */
export class TokenMinter {
  readonly #key: SigningKey;
  readonly #minted = new Map<string, Minted>();

  constructor(key: SigningKey) {
    this.#key = key;
  }

  async mint(principal: Principal): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const name = JSON.stringify([principal.organization, principal.id, principal.roles]);
    const known = this.#minted.get(name);
    if (known !== undefined && known.reuseUntil > now) return known.token;
    const token = await new SignJWT({ organization: principal.organization, roles: [...principal.roles] })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: this.#key.name })
      .setIssuer(this.#key.name)
      .setSubject(principal.id)
      .setAudience(TOKEN_AUDIENCE)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFETIME_SECONDS)
      .sign(this.#key.key);
    this.#forget(now);
    this.#minted.set(name, { token, reuseUntil: now + REUSE_SECONDS });
    return token;
  }

  #forget(now: number): void {
    for (const [name, minted] of this.#minted) if (minted.reuseUntil <= now) this.#minted.delete(name);
  }
}

import { signJws } from "./compact-jws.ts";
import type { Principal } from "./principal.ts";
import type { ServiceName } from "./service-name.ts";
import type { CurrentSigningKey } from "./signing-key.ts";

const LIFETIME_SECONDS = 120;
const REUSE_SECONDS = 60;
/** Of a service that calls in its own name: no organization has this name. */
const OWN_ORGANIZATION = "-";

interface Minted {
  readonly token: string;
  readonly kid: string;
  /** Seconds since 1970. */
  readonly reuseUntil: number;
}

/**
 * Signs the internal token that every call in the mesh carries. A token is for one service, lives 120 s and is handed out
 * again for half of that, since signing costs more than a map look-up.
 */
export class TokenMinter {
  readonly #key: CurrentSigningKey;
  /** In the order in which they were minted. */
  readonly #minted = new Map<string, Minted>();

  constructor(key: CurrentSigningKey) {
    this.#key = key;
  }

  /** @param delegation demanded of every service but the edge: on its word alone nobody is believed to be anybody */
  mint(principal: Principal, audience: ServiceName, delegation?: string): string {
    const key = this.#key();
    const now = Math.floor(Date.now() / 1000);
    const { organization, id, roles } = principal;
    const name = JSON.stringify([organization, id, roles, audience, delegation]);
    const known = this.#minted.get(name);
    if (known !== undefined && known.reuseUntil > now && known.kid === key.kid) return known.token;
    const claims = { iss: key.service, aud: audience, sub: id, organization, roles, iat: now, exp: now + LIFETIME_SECONDS, delegation };
    const token = signJws(claims, "hlvm-call+jwt", key);
    this.#forget(now);
    this.#minted.delete(name);
    this.#minted.set(name, { token, kid: key.kid, reuseUntil: now + REUSE_SECONDS });
    return token;
  }

  /** For a call in this service's own name, of the few methods that are for services. */
  mintOwn(audience: ServiceName): string {
    const { service } = this.#key();
    return this.mint({ organization: OWN_ORGANIZATION, id: `service:${service}`, roles: [] }, audience);
  }

  #forget(now: number): void {
    for (const [name, { reuseUntil }] of this.#minted) {
      if (reuseUntil > now) return;
      this.#minted.delete(name);
    }
  }
}

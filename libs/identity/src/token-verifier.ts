import { HlvmError } from "@hlvm/errors/hlvm-error";
import { expiryOf, principalOf } from "./claims.ts";
import { verifyJws } from "./compact-jws.ts";
import type { Delegation } from "./delegation.ts";
import { DelegationVerifier } from "./delegation-verifier.ts";
import type { Principal } from "./principal.ts";
import type { PublicKeys } from "./public-keys.ts";
import type { ServiceName } from "./service-name.ts";

const MAXIMUM_REMEMBERED = 1_000;
/** Nobody mints a token for longer than 120 s; what says so was not minted here. */
const LONGEST_SECONDS = 300;
/** The only service that says by itself who is calling. */
const PRINCIPALS_ISSUER = "edge";
/** What the name of a service begins with that calls in its own name. */
const OWN = "service:";

/** Who is calling. */
export interface VerifiedCaller {
  readonly principal: Principal;
  /** Where a run calls, in the name of the person who started it. */
  readonly delegation?: Delegation;
}

interface Remembered {
  readonly caller: VerifiedCaller;
  readonly kid: string;
  /** The delegation that the token brings along. */
  readonly delegation?: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/** Tells one service from a token who is calling it. A token that was good stays good until it or its key expires, without another signature check. */
export class TokenVerifier {
  readonly #service: ServiceName;
  readonly #keys: PublicKeys;
  readonly #delegations: DelegationVerifier;
  readonly #remembered = new Map<string, Remembered>();

  /** @param service who verifies: a token for any other is refused */
  constructor(service: ServiceName, keys: PublicKeys) {
    this.#service = service;
    this.#keys = keys;
    this.#delegations = new DelegationVerifier(keys);
  }

  /** @throws HlvmError `token_refused`, which says why */
  verify(token: string): VerifiedCaller {
    try {
      const known = this.#remembered.get(token);
      if (known !== undefined && known.expiresAt > Date.now() / 1000 && this.#keys.find(known.kid) !== undefined) {
        if (known.delegation !== undefined) this.#delegations.verify(known.delegation);
        return known.caller;
      }
      this.#remembered.delete(token);
      const checked = this.#check(token);
      if (this.#remembered.size >= MAXIMUM_REMEMBERED) this.#remembered.clear();
      this.#remembered.set(token, checked);
      return checked.caller;
    } catch (cause) {
      throw this.#refused(cause);
    }
  }

  /**
   * Which service calls in its own name, for the methods that are for services alone; everywhere else such a token is refused.
   * @throws HlvmError `token_refused`
   */
  verifyOwn(token: string): string {
    try {
      const { claims, signer } = this.#open(token);
      if (claims.delegation !== undefined || claims.sub !== `${OWN}${signer.service}`) throw new Error("a person calls with it");
      return signer.service;
    } catch (cause) {
      throw this.#refused(cause);
    }
  }

  #refused(cause: unknown): HlvmError {
    return new HlvmError({
      code: "unauthenticated",
      reason: "token_refused",
      message: `The call carries no token that ${this.#service} accepts: ${(cause as Error).message}`,
      advice: "Call through the edge; it gives every call its token.",
      cause,
    });
  }

  #open(token: string): ReturnType<typeof verifyJws> & { readonly expiresAt: number } {
    const verified = verifyJws(token, "hlvm-call+jwt", this.#keys);
    const { claims, signer } = verified;
    if (claims.iss !== signer.service) throw new Error("issuer and key differ");
    if (claims.aud !== this.#service) throw new Error("it is for another service");
    return { ...verified, expiresAt: expiryOf(claims, LONGEST_SECONDS) };
  }

  #check(token: string): Remembered {
    const { claims, kid, signer, expiresAt } = this.#open(token);
    const principal = principalOf(claims);
    if (principal.id.startsWith(OWN)) throw new Error("a service calls with it in its own name, and this is for people");
    if (claims.delegation === undefined) {
      if (signer.service !== PRINCIPALS_ISSUER) throw new Error("only the edge says by itself who is calling");
      return { caller: { principal }, kid, expiresAt };
    }
    if (typeof claims.delegation !== "string") throw new Error("its delegation is malformed");
    const delegation = this.#delegations.verify(claims.delegation);
    if (delegation.authorizedParty !== signer.service) throw new Error("its delegation is for another service to act on");
    if (!isSame(delegation.principal, principal)) throw new Error("its delegation is of another person, or of other roles");
    return { caller: { principal, delegation }, kid, delegation: claims.delegation, expiresAt };
  }
}

function isSame(one: Principal, other: Principal): boolean {
  const parts = ({ organization, id, roles }: Principal): string => JSON.stringify([organization, id, roles]);
  return parts(one) === parts(other);
}

import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { expiryOf, principalOf, textOf } from "./claims.ts";
import { verifyJws } from "./compact-jws.ts";
import { DELEGATION_SECONDS, type Delegation } from "./delegation.ts";
import type { PublicKeys } from "./public-keys.ts";

const MAXIMUM_REMEMBERED = 1_000;
const ISSUER = "edge";

interface Remembered {
  readonly delegation: Delegation;
  readonly kid: string;
}

/** Tells from a delegation what its run may do. One that was good stays good until it or its key expires, without another check. */
export class DelegationVerifier {
  readonly #keys: PublicKeys;
  readonly #remembered = new Map<string, Remembered>();

  constructor(keys: PublicKeys) {
    this.#keys = keys;
  }

  /** @throws HlvmError `delegation_refused`, which says why */
  verify(text: string): Delegation {
    const known = this.#remembered.get(text);
    if (known !== undefined && known.delegation.expiresAt > Date.now() / 1000 && this.#keys.find(known.kid) !== undefined)
      return known.delegation;
    this.#remembered.delete(text);
    try {
      const checked = this.#check(text);
      if (this.#remembered.size >= MAXIMUM_REMEMBERED) this.#remembered.clear();
      this.#remembered.set(text, checked);
      return checked.delegation;
    } catch (cause) {
      throw new HlvmError({
        code: "unauthenticated",
        reason: "delegation_refused",
        message: `The delegation does not count: ${(cause as Error).message}.`,
        advice: "Start the run through the edge; it delegates what the person set.",
        cause,
      });
    }
  }

  #check(text: string): Remembered {
    const { claims, kid, signer } = verifyJws(text, "hlvm-delegation+jwt", this.#keys);
    if (signer.service !== ISSUER || claims.iss !== ISSUER) throw new Error("only the edge delegates");
    const delegation = {
      principal: principalOf(claims),
      sessionId: textOf(claims, "session"),
      runId: textOf(claims, "run"),
      settings: fromJson(PermissionSettingsSchema, claims.settings as JsonValue),
      authorizedParty: textOf(claims, "azp"),
      expiresAt: expiryOf(claims, DELEGATION_SECONDS),
    };
    return { delegation, kid };
  }
}

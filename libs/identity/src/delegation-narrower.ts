import { create, toJson } from "@bufbuild/protobuf";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { PermissionSettingsSchema, type PermissionSettings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { signJws } from "./compact-jws.ts";
import { DELEGATION_SECONDS, LINK_SEPARATOR } from "./delegation.ts";
import type { CurrentSigningKey } from "./signing-key.ts";

export interface Narrowing {
  /** The run that gets the narrowed delegation: the same one, or a worker of it. */
  readonly runId: string;
  readonly settings: PermissionSettings;
}

/**
 * Signs links that narrow a delegation, as macaroons are attenuated: the service that may act on a delegation adds a link with
 * its own key, and whoever verifies the chain allows only what every part of it allows. So a link can take away and never give,
 * whatever it says.
 */
export class DelegationNarrower {
  readonly #key: CurrentSigningKey;

  constructor(key: CurrentSigningKey) {
    this.#key = key;
  }

  /** @param delegation which this service may act on, narrowed already or not */
  narrow(delegation: string, { runId, settings }: Narrowing): string {
    const key = this.#key();
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: key.service,
      narrows: sha256Hex(delegation),
      run: runId,
      settings: toJson(PermissionSettingsSchema, create(PermissionSettingsSchema, settings)),
      iat: now,
      exp: now + DELEGATION_SECONDS,
    };
    return `${delegation}${LINK_SEPARATOR}${signJws(claims, "hlvm-narrowing+jwt", key)}`;
  }
}

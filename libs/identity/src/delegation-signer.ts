import { create, toJson } from "@bufbuild/protobuf";
import { PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { signJws } from "./compact-jws.ts";
import { DELEGATION_SECONDS, type Delegation } from "./delegation.ts";
import type { ServiceName } from "./service-name.ts";
import type { CurrentSigningKey } from "./signing-key.ts";

const AUTHORIZED_PARTY: ServiceName = "orchestrator";

/** Signs, in the edge, what a person lets a run do. */
export class DelegationSigner {
  readonly #key: CurrentSigningKey;

  constructor(key: CurrentSigningKey) {
    this.#key = key;
  }

  sign({
    principal,
    sessionId,
    runId,
    settings,
    modelAccess,
  }: Pick<Delegation, "principal" | "sessionId" | "runId" | "settings" | "modelAccess">): string {
    const key = this.#key();
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: key.service,
      azp: AUTHORIZED_PARTY,
      sub: principal.id,
      organization: principal.organization,
      roles: principal.roles,
      teams: principal.teams,
      session: sessionId,
      run: runId,
      settings: toJson(PermissionSettingsSchema, create(PermissionSettingsSchema, settings)),
      model_token: modelAccess?.tokenId,
      models: modelAccess?.allowedModels,
      iat: now,
      exp: now + DELEGATION_SECONDS,
    };
    return signJws(claims, "hlvm-delegation+jwt", key);
  }
}

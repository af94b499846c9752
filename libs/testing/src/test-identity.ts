import { createLocalJWKSet } from "jose";
import type { Principal } from "@hlvm/identity/principal";
import { createSigningKey, signingKeyOf } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Enforcement } from "@hlvm/grant/grant";
import { GrantSigner } from "@hlvm/grant/grant-signer";
import { GrantGate } from "@hlvm/grant/grant-gate";
import { grantKeys } from "@hlvm/grant/grant-keys";

export const testPrincipal: Principal = {
  organization: "local",
  id: "user:test",
  roles: ["developer", "approver", "admin", "security-auditor"],
};

/** What policy lets an L2 call do. */
export const testEnforcement: Enforcement = {
  level: "L2",
  profile: "open",
  protectedPaths: [],
  network: "none",
  timeoutMilliseconds: 60_000,
};

/** A minter and a verifier that trust each other, and the same for grants: real signatures, keys made for the test. */
export async function createTestIdentity(): Promise<{
  minter: TokenMinter;
  verifier: TokenVerifier;
  signer: GrantSigner;
  gate: () => GrantGate;
}> {
  const edge = await createSigningKey("edge");
  const policy = await createSigningKey("policy");
  return {
    minter: new TokenMinter(signingKeyOf(edge.privateJwk)),
    verifier: new TokenVerifier(createLocalJWKSet({ keys: [edge.publicJwk] })),
    signer: new GrantSigner(signingKeyOf(policy.privateJwk)),
    gate: () => new GrantGate(grantKeys([policy.publicJwk])),
  };
}

import { createLocalJWKSet } from "jose";
import { importJWK } from "jose";
import type { Principal } from "@hlvm/identity/principal";
import { createSigningKey, SIGNING_ALGORITHM, type SigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { GrantSigner } from "@hlvm/grant/grant-signer";
import { GrantGate } from "@hlvm/grant/grant-gate";

export const testPrincipal: Principal = { organization: "local", id: "user:test", roles: ["developer", "approver", "admin", "security-auditor"] };

/** A minter and a verifier that trust each other, and the same for grants: real signatures, keys made for the test. */
export async function createTestIdentity(): Promise<{ minter: TokenMinter; verifier: TokenVerifier; signer: GrantSigner; gate: () => GrantGate }> {
  const edge = await createSigningKey("edge");
  const policy = await createSigningKey("policy");
  const keyOf = async (made: typeof edge): Promise<SigningKey> => ({
    name: made.privateJwk.kid!,
    key: (await importJWK(made.privateJwk, SIGNING_ALGORITHM)) as CryptoKey,
  });
  return {
    minter: new TokenMinter(await keyOf(edge)),
    verifier: new TokenVerifier(createLocalJWKSet({ keys: [edge.publicJwk] })),
    signer: new GrantSigner(await keyOf(policy)),
    gate: () => new GrantGate(createLocalJWKSet({ keys: [policy.publicJwk] })),
  };
}

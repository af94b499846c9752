import { createLocalJWKSet, SignJWT } from "jose";
import { describe, expect, it, vi } from "vitest";
import type { Principal } from "./principal.ts";
import { createSigningKey, signingKeyOf, SIGNING_ALGORITHM } from "./signing-key.ts";
import { TOKEN_AUDIENCE, TokenMinter } from "./token-minter.ts";
import { TokenVerifier } from "./token-verifier.ts";

const principal: Principal = { organization: "acme", id: "user:ada", roles: ["developer"] };

async function keyNamed(name: string) {
  const made = await createSigningKey(name);
  return { ...made, key: signingKeyOf(made.privateJwk) };
}

describe("TokenVerifier", () => {
  it("tells who a minted token speaks for", async () => {
    const edge = await keyNamed("edge");
    const verifier = new TokenVerifier(createLocalJWKSet({ keys: [edge.publicJwk] }));
    expect(await verifier.verify(await new TokenMinter(edge.key).mint(principal))).toEqual(principal);
  });

  it("refuses a token that somebody else signed, even under a trusted name", async () => {
    const edge = await keyNamed("edge");
    const impostor = await keyNamed("edge");
    const verifier = new TokenVerifier(createLocalJWKSet({ keys: [edge.publicJwk] }));
    await expect(verifier.verify(await new TokenMinter(impostor.key).mint(principal))).rejects.toMatchObject({ reason: "token_refused" });
  });

  it("refuses a token that claims another issuer than its key", async () => {
    const [edge, orchestrator] = [await keyNamed("edge"), await keyNamed("orchestrator")];
    const verifier = new TokenVerifier(createLocalJWKSet({ keys: [edge.publicJwk, orchestrator.publicJwk] }));
    const forged = await new SignJWT({ organization: "acme", roles: ["admin"] })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: "orchestrator" })
      .setIssuer("edge")
      .setSubject("user:ada")
      .setAudience(TOKEN_AUDIENCE)
      .setExpirationTime("1 minute")
      .sign(orchestrator.key.key);
    await expect(verifier.verify(forged)).rejects.toMatchObject({ reason: "token_refused" });
  });

  it("refuses a token that it took before, once it has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const edge = await keyNamed("edge");
      const verifier = new TokenVerifier(createLocalJWKSet({ keys: [edge.publicJwk] }));
      const token = await new TokenMinter(edge.key).mint(principal);
      await verifier.verify(token);
      vi.setSystemTime(Date.now() + 121_000);
      await expect(verifier.verify(token)).rejects.toMatchObject({ reason: "token_refused" });
    } finally {
      vi.useRealTimers();
    }
  });
});

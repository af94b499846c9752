import fc from "fast-check";
import { importJWK, jwtVerify, SignJWT, UnsecuredJWT, type JWTPayload } from "jose";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { PermissionMode, PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { create } from "@bufbuild/protobuf";
import { DelegationSigner } from "./delegation-signer.ts";
import type { Principal } from "./principal.ts";
import { publicKeysOf } from "./public-keys.ts";
import { createSigningKey, signingKeyOf, type JWK, type SigningKey } from "./signing-key.ts";
import { TokenMinter } from "./token-minter.ts";
import { TokenVerifier } from "./token-verifier.ts";

const ada: Principal = { organization: "acme", id: "user:ada", roles: ["developer"] };
const THIRTY_YEARS = 30 * 365 * 24 * 60 * 60;
const CALL = "hlvm-call+jwt";
const DELEGATION = "hlvm-delegation+jwt";

interface Key extends SigningKey {
  readonly publicJwk: JWK;
}

let edge: Key;
let orchestrator: Key;
let stranger: Key;
let verifier: TokenVerifier;

beforeAll(async () => {
  [edge, orchestrator, stranger] = await Promise.all([newKey("edge"), newKey("orchestrator"), newKey("edge")]);
  verifier = newVerifier();
});
afterEach(() => vi.useRealTimers());

async function newKey(service: string): Promise<Key> {
  const { privateJwk, publicJwk } = await createSigningKey(service);
  return { ...signingKeyOf(privateJwk), publicJwk };
}

const newVerifier = (): TokenVerifier => new TokenVerifier("policy", publicKeysOf([edge.publicJwk, orchestrator.publicJwk]));
const now = (): number => Math.floor(Date.now() / 1000);

/** Signed by another implementation, so that anything can be said. */
function forge(
  key: SigningKey,
  changes: JWTPayload & Record<string, unknown> = {},
  header: { typ?: string; kid?: string } = {},
): Promise<string> {
  const usual = { iss: key.service, aud: "policy", sub: ada.id, organization: ada.organization, roles: ada.roles };
  const claims = Object.fromEntries(
    Object.entries({ ...usual, iat: now(), exp: now() + 120, ...changes }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", typ: CALL, kid: key.kid, ...header }).sign(key.key);
}

const DELEGATED = { azp: "orchestrator", aud: undefined, session: "s", run: "r", settings: { mode: "PERMISSION_MODE_PLAN", canAsk: true } };
const delegation = (key = edge, changes: Record<string, unknown> = {}, header: { typ?: string } = {}): Promise<string> =>
  forge(key, { ...DELEGATED, ...changes }, { typ: DELEGATION, ...header });
const withDelegation = async (text: string | Promise<string>, changes: Record<string, unknown> = {}): Promise<string> =>
  forge(orchestrator, { delegation: await text, ...changes });

/** The same bytes in other letters: the last one of a signature has bits to spare. */
function respelt(token: string): string {
  const signature = token.split(".").at(-1)!;
  const bytes = Buffer.from(signature, "base64url");
  const others = Array.from(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    (letter) => signature.slice(0, -1) + letter,
  );
  const other = others.find((spelling) => spelling !== signature && Buffer.from(spelling, "base64url").equals(bytes))!;
  return token.slice(0, -signature.length) + other;
}

describe("TokenVerifier", () => {
  it("tells who a minted token speaks for, and so does another implementation", async () => {
    const token = new TokenMinter(() => edge).mint(ada, "policy");
    expect(verifier.verify(token)).toEqual({ principal: ada });
    const { payload } = await jwtVerify(token, await importJWK(edge.publicJwk), { audience: "policy", issuer: "edge", typ: CALL });
    expect(payload.exp! - payload.iat!).toBe(120);
  });

  it("tells for which run another service calls, and what it may do", () => {
    const settings = create(PermissionSettingsSchema, { mode: PermissionMode.PLAN, allowedTools: ["git_*"], canAsk: true });
    const signed = new DelegationSigner(() => edge).sign({ principal: ada, sessionId: "s", runId: "r", settings });
    const token = new TokenMinter(() => orchestrator).mint(ada, "policy", signed);
    const caller = verifier.verify(token);
    expect(caller.principal).toEqual(ada);
    expect(caller.delegation).toMatchObject({ principal: ada, sessionId: "s", runId: "r", settings, authorizedParty: "orchestrator" });
    expect(caller.delegation!.expiresAt).toBeLessThanOrEqual(now() + 24 * 60 * 60);
  });

  const forgeries: Record<string, () => string | Promise<string>> = {
    "that somebody else signed under a trusted name": () => forge(stranger, {}, { kid: edge.kid }),
    "whose key nobody knows": () => forge(stranger),
    "that claims another issuer than its key": () => forge(orchestrator, { iss: "edge" }),
    "that claims another issuer than its key, with a delegation that fits": () => withDelegation(delegation(), { iss: "edge" }),
    "without a signature": () => new UnsecuredJWT({ sub: ada.id, roles: [...ada.roles] }).setAudience("policy").encode(),
    "signed with the public key as a secret": () =>
      new SignJWT({ sub: ada.id }).setProtectedHeader({ alg: "HS256", kid: edge.kid, typ: CALL }).sign(Buffer.from(edge.publicJwk.x!)),
    "for another service": () => forge(edge, { aud: "memory" }),
    "for several services": () => forge(edge, { aud: ["policy", "memory"] }),
    "for this service in a list": () => forge(edge, { aud: ["policy"] }),
    "for nobody in particular": () => forge(edge, { aud: undefined }),
    "that does not say when it was made": () => forge(edge, { iat: undefined }),
    "that does not say when it ends": () => forge(edge, { exp: undefined }),
    "from the future": () => forge(edge, { iat: now() + 60, exp: now() + 120 }),
    "that has expired": () => forge(edge, { iat: now() - 200, exp: now() - 1 }),
    "with an expiry in thirty years": () => forge(edge, { exp: now() + THIRTY_YEARS }),
    "made and ending in thirty years": () => forge(edge, { iat: now() + THIRTY_YEARS, exp: now() + THIRTY_YEARS + 60 }),
    "that would hold for more than five minutes": () => forge(edge, { exp: now() + 301 }),
    "with a role that there is not": () => forge(edge, { roles: ["developer", "root"] }),
    "with roles that are no list": () => forge(edge, { roles: "admin" }),
    "without an organization": () => forge(edge, { organization: "" }),
    "without a principal": () => forge(edge, { sub: undefined }),
    "of another type": () => forge(edge, {}, { typ: "JWT" }),
    "that a service other than the edge mints by itself": () => forge(orchestrator),
    "of another service for another person than delegated": () => withDelegation(delegation(), { sub: "user:bob" }),
    "of another service with a wider role than delegated": () => withDelegation(delegation(), { roles: ["developer", "admin"] }),
    "of another service with fewer roles than delegated": () => withDelegation(delegation(), { roles: [] }),
    "of another service for another organization than delegated": () => withDelegation(delegation(), { organization: "other" }),
    "with a delegation that the service signed itself": () => withDelegation(delegation(orchestrator)),
    "with a delegation that the service signed itself in the edge's name": () => withDelegation(delegation(orchestrator, { iss: "edge" })),
    "with a delegation of a stranger": () => withDelegation(delegation(stranger)),
    "with a delegation for another service": () => withDelegation(delegation(edge, { azp: "memory" })),
    "of the edge with a delegation for another service": async () => forge(edge, { delegation: await delegation() }),
    "with a delegation that has expired": () => withDelegation(delegation(edge, { iat: now() - 200, exp: now() - 1 })),
    "with a delegation for thirty years": () => withDelegation(delegation(edge, { exp: now() + THIRTY_YEARS })),
    "with a delegation without a session": () => withDelegation(delegation(edge, { session: undefined })),
    "with a delegation without a run": () => withDelegation(delegation(edge, { run: "" })),
    "with a delegation of unknown settings": () => withDelegation(delegation(edge, { settings: { mode: "ANYTHING" } })),
    "with a delegation without settings": () => withDelegation(delegation(edge, { settings: undefined })),
    "with a token as its delegation": () => withDelegation(delegation(edge, {}, { typ: CALL })),
    "with a delegation that is no text": () => forge(orchestrator, { delegation: { sub: ada.id } }),
    "that is a delegation": () => delegation(edge, { aud: "policy" }),
    "that is a grant": () => forge(edge, {}, { typ: "hlvm-grant+jwt" }),
    "with something critical in its header": () =>
      new SignJWT({ iss: "edge", aud: "policy", sub: ada.id, organization: "acme", roles: [], iat: now(), exp: now() + 60 })
        .setProtectedHeader({ alg: "EdDSA", typ: CALL, kid: edge.kid, crit: ["b64"], b64: true })
        .sign(edge.key),
    "whose signature is spelt in another way": async () => respelt(await forge(edge)),
    "of nothing": () => "",
    "of three empty parts": () => "..",
    "of four parts": async () => `${await forge(edge)}.e30`,
  };

  it.each(Object.entries(forgeries))("refuses a token %s", async (_what, forged) => {
    const token = await forged();
    expect(() => verifier.verify(token)).toThrow(expect.objectContaining({ code: "unauthenticated", reason: "token_refused" }));
  });

  it("accepts what the forgeries are made from", async () => {
    expect(verifier.verify(await forge(edge))).toEqual({ principal: ada });
    expect(verifier.verify(await withDelegation(delegation())).delegation).toMatchObject({ sessionId: "s", runId: "r" });
    expect(verifier.verify(await forge(edge, { iat: now() + 20, exp: now() + 120 }))).toEqual({ principal: ada });
  });

  it("refuses every token, and every one with a delegation, of which a byte was changed", async () => {
    for (const token of [await forge(edge), await withDelegation(delegation())])
      fc.assert(
        fc.property(fc.nat(token.length - 1), fc.constantFrom(..."Aa0_-.=\n"), (place, letter) => {
          fc.pre(token[place] !== letter);
          expect(() => verifier.verify(token.slice(0, place) + letter + token.slice(place + 1))).toThrow("accepts");
        }),
      );
  });

  it("refuses every other claim under a signature that was good", async () => {
    const [header, payload, signature] = (await forge(edge)).split(".") as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(claims)), fc.jsonValue(), (name, value) => {
        const changed = Buffer.from(JSON.stringify({ ...claims, [name]: value })).toString("base64url");
        fc.pre(changed !== payload);
        expect(() => verifier.verify(`${header}.${changed}.${signature}`)).toThrow("its signature does not hold");
      }),
    );
  });

  it("refuses a token that it took before, once it or its delegation has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const token = await forge(edge);
    const delegated = await withDelegation(delegation(edge, { exp: now() + 60 }));
    verifier.verify(token);
    verifier.verify(delegated);
    vi.setSystemTime(Date.now() + 61_000);
    verifier.verify(token);
    expect(() => verifier.verify(delegated)).toThrow("it has expired");
    vi.setSystemTime(Date.now() + 60_000);
    expect(() => verifier.verify(token)).toThrow("it has expired");
  });

  it("refuses a token that it took before, once its key counts no more", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const keys = publicKeysOf([{ ...edge.publicJwk, exp: now() + 60 }, orchestrator.publicJwk]);
    const followed = new TokenVerifier("policy", keys);
    const [token, delegated] = [await forge(edge), await withDelegation(delegation())];
    followed.verify(token);
    followed.verify(delegated);
    vi.setSystemTime(Date.now() + 61_000);
    for (const old of [token, delegated]) expect(() => followed.verify(old)).toThrow("nobody knows its key");
  });
});

describe("a token that a service calls with in its own name", () => {
  it("says which service that is, and is good for nothing else", () => {
    const token = new TokenMinter(() => orchestrator).mintOwn("policy");
    expect(verifier.verifyOwn(token)).toBe("orchestrator");
    expect(() => verifier.verify(token)).toThrow("a service calls with it in its own name");
    expect(() => new TokenVerifier("memory", publicKeysOf([orchestrator.publicJwk])).verifyOwn(token)).toThrow("for another service");
  });

  it("is no person's where the edge signed it, and a person's token is none", async () => {
    expect(() => verifier.verify(new TokenMinter(() => edge).mintOwn("policy"))).toThrow("a service calls with it");
    const personal = new TokenMinter(() => edge).mint(ada, "policy");
    expect(() => verifier.verifyOwn(personal)).toThrow("a person calls with it");
    const forged = await forge(stranger, { sub: "service:edge", roles: [] });
    expect(() => verifier.verifyOwn(forged)).toThrow();
  });
});

describe("TokenMinter", () => {
  it("hands a token out again for a minute, for the same person, service, delegation and key alone", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let key = edge;
    const minter = new TokenMinter(() => key);
    const first = minter.mint(ada, "policy");
    expect(minter.mint(ada, "policy")).toBe(first);
    const others = [minter.mint(ada, "memory"), minter.mint(ada, "policy", "d"), minter.mint({ ...ada, roles: [] }, "policy")];
    key = stranger;
    others.push(minter.mint(ada, "policy"));
    expect(new Set([first, ...others]).size).toBe(5);
    const again = minter.mint(ada, "policy");
    vi.setSystemTime(Date.now() + 61_000);
    expect(minter.mint(ada, "policy")).not.toBe(again);
  });
});

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readPublicKeys, type PublicJwk } from "@hlvm/identity/public-keys";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { keepHlvmFiles, type HlvmFiles } from "./hlvm-files.ts";
import { SigningKeys } from "./signing-keys.ts";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1_000;

let directory: string;
let files: HlvmFiles;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-keys-"));
  files = keepHlvmFiles(directory, () => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

const keep = (): Promise<SigningKeys> => SigningKeys.keep(files, () => undefined);
const keysIn = (path: string): PublicJwk[] => (JSON.parse(readFileSync(path, "utf8")) as { keys: PublicJwk[] }).keys;
const kidsIn = (path: string): string[] => keysIn(path).map(({ kid }) => kid!);
const kidOf = (keys: SigningKeys, signer: "edge" | "orchestrator" | "policy"): string => readSigningKey(keys.signingKey(signer))().kid;

describe("the signing keys", () => {
  it("are rotated under services that run: what the old and the new keys sign is believed all the time", async () => {
    const keys = await keep();
    const verifier = new TokenVerifier("memory", readPublicKeys(keys.tokenPublicKeys));
    const minter = new TokenMinter(readSigningKey(keys.signingKey("edge")));
    const before = minter.mint(testPrincipal, "memory");
    const old = kidOf(keys, "edge");

    const rotation = keys.rotate();
    const call = async (): Promise<string> => {
      await new Promise(setImmediate);
      const token = minter.mint(testPrincipal, "memory");
      expect(verifier.verify(token)).toEqual({ principal: testPrincipal });
      return token;
    };
    const over = rotation.then(() => "over");
    while ((await Promise.race([over, call()])) !== "over");
    while ((await call()) === before);
    const { rotated } = await rotation;
    expect(rotated.map(({ service }) => service)).toEqual(["edge", "orchestrator", "policy"]);
    expect(rotated[0]).toMatchObject({ kid: kidOf(keys, "edge"), replaced: old });
    expect(kidOf(keys, "edge")).not.toBe(old);
    expect(verifier.verify(before)).toEqual({ principal: testPrincipal });
    expect(kidsIn(keys.tokenPublicKeys)).toContain(old);
    expect(keysIn(keys.grantPublicKeys)).toHaveLength(2);
    for (const path of [keys.signingKey("edge"), keys.tokenPublicKeys, keys.grantPublicKeys])
      expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const jwk of [...keysIn(keys.tokenPublicKeys), ...keysIn(keys.grantPublicKeys)]) expect(jwk).not.toHaveProperty("d");
  });

  it("count no longer than anything that they signed, and are then taken out", async () => {
    const keys = await keep();
    const old = kidOf(keys, "edge");
    const { replacedCountUntil } = await keys.rotate();
    const current = ["edge", "orchestrator"].map((signer) => kidOf(keys, signer as "edge"));
    expect((await keep(), kidsIn(keys.tokenPublicKeys))).toEqual(expect.arrayContaining([...current, old]));
    expect(Date.parse(replacedCountUntil)).toBeGreaterThan(Date.now() + DAY_MILLISECONDS);
    expect(Date.parse(replacedCountUntil)).toBeLessThan(Date.now() + DAY_MILLISECONDS + 600_000);

    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(replacedCountUntil) });
    expect(readPublicKeys(keys.tokenPublicKeys).find(old)).toBeUndefined();
    await keep();
    expect(kidsIn(keys.tokenPublicKeys)).toEqual(current);
    expect(kidsIn(keys.grantPublicKeys)).toEqual([kidOf(keys, "policy")]);
  });

  it("are rotated one time after the other, where it is asked for twice at once", async () => {
    const keys = await keep();
    const [first, second] = await Promise.all([keys.rotate(), keys.rotate()]);
    expect(second.rotated.map(({ replaced }) => replaced)).toEqual(first.rotated.map(({ kid }) => kid));
    expect(keysIn(keys.tokenPublicKeys)).toHaveLength(6);
  });

  it("that were published and never used are gone after the next start", async () => {
    const keys = await keep();
    const old = kidsIn(keys.tokenPublicKeys);
    const rotation = keys.rotate();
    await expect.poll(() => kidsIn(keys.tokenPublicKeys)).toHaveLength(4);
    await keep();
    expect(kidsIn(keys.tokenPublicKeys)).toEqual(old);
    await rotation;
  });
});

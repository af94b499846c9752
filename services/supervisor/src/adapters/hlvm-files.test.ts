import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { keepHlvmFiles, keepLocalToken, keepSecrets } from "./hlvm-files.ts";
import { SigningKeys } from "./signing-keys.ts";

let directory: string;
let notices: string[];
const notice = (line: string): void => void notices.push(line);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-files-"));
  notices = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

async function keepAll() {
  const files = keepHlvmFiles(directory, notice);
  await keepLocalToken(files, notice);
  return { files, secrets: await keepSecrets(files, ["hlvm_policy"], notice), keys: await SigningKeys.keep(files, notice) };
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe("the HLVM directory", () => {
  it("is closed to others, all of it", async () => {
    const { files } = await keepAll();
    expect(modeOf(directory)).toBe("700");
    expect(modeOf(files.keys)).toBe("700");
    expect(modeOf(files.tokenFile)).toBe("600");
    const keys = readdirSync(files.keys);
    expect(keys).toEqual(
      expect.arrayContaining([
        "edge.jwk",
        "orchestrator.jwk",
        "policy.jwk",
        "token-public.jwks",
        "hlvm_policy-password",
        "meilisearch-master-key",
      ]),
    );
    expect(new Set(keys.map((name) => modeOf(join(files.keys, name))))).toEqual(new Set(["600"]));
    expect(readFileSync(files.tokenFile, "utf8")).toMatch(/^[0-9a-f]{64}$/);
    expect(notices).toEqual([]);
  });

  it("keeps its token, keys and secrets from start to start", async () => {
    const first = await keepAll();
    const token = readFileSync(first.files.tokenFile, "utf8");
    const key = readFileSync(first.keys.signingKey("policy"), "utf8");
    const second = await keepAll();
    expect(readFileSync(second.files.tokenFile, "utf8")).toBe(token);
    expect(readFileSync(second.keys.signingKey("policy"), "utf8")).toBe(key);
    expect(second.secrets).toEqual(first.secrets);
  });

  it("closes a token file that others could read, and says so", async () => {
    const { files } = await keepAll();
    chmodSync(files.tokenFile, 0o644);
    await keepAll();
    expect(modeOf(files.tokenFile)).toBe("600");
    expect(notices).toEqual([`${files.tokenFile} was open to other users (mode 644); it is closed to them now.`]);
  });

  it("believes tokens of the edge and the orchestrator, and nobody's beside", async () => {
    const { keys } = await keepAll();
    expect(readFileSync(keys.tokenPublicKeys, "utf8") + readFileSync(keys.grantPublicKeys, "utf8")).not.toContain('"d"');
    const verifier = new TokenVerifier("memory", readPublicKeys(keys.tokenPublicKeys));
    const minter = (signer: "edge" | "orchestrator" | "policy"): TokenMinter => new TokenMinter(readSigningKey(keys.signingKey(signer)));
    expect(verifier.verify(minter("edge").mint(testPrincipal, "memory"))).toEqual({ principal: testPrincipal });
    expect(() => verifier.verify(minter("orchestrator").mint(testPrincipal, "memory"))).toThrow(
      "only the edge says by itself who is calling",
    );
    expect(() => verifier.verify(minter("policy").mint(testPrincipal, "memory"))).toThrow("nobody knows its key");
  });

  it("puts sockets elsewhere where its own path is too long for them, as closed as here", () => {
    const long = join(directory, "x".repeat(100));
    const { sockets } = keepHlvmFiles(long, notice);
    expect(Buffer.byteLength(sockets)).toBeLessThan(90);
    expect(modeOf(sockets)).toBe("700");
    expect(lstatSync(sockets).isDirectory()).toBe(true);
    expect(keepHlvmFiles(long, notice).sockets).toBe(sockets);
    rmSync(sockets, { recursive: true });
  });
});

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSecret, sealSecret, type KeyWrapper } from "../../domain/keys/sealed-secret.ts";
import { StandInVault } from "../../testing/stand-in-vault.ts";
import { FileKeyWrapper } from "./file-key-wrapper.ts";
import { VaultKeyWrapper } from "./vault-key-wrapper.ts";

const SECRET = "sk-a-secret-that-nobody-sees";
const ROW = '["acme","","anthropic","1"]';
const folder = mkdtempSync(join(tmpdir(), "hlvm-keys-"));
const file = join(folder, "keys");
const tokenFile = join(folder, "token");
let vault: StandInVault;

const line = (name: string): string => `${name} ${randomBytes(32).toString("base64")}\n`;
const vaultWrapper = (key = "transit/hlvm"): KeyWrapper => new VaultKeyWrapper({ url: vault.url, key, tokenFile });

beforeAll(async () => {
  vault = await StandInVault.start();
});
beforeEach(() => {
  writeFileSync(file, line("first"));
  writeFileSync(tokenFile, "first token\n");
  Object.assign(vault, { answer: undefined, token: "first token", asked: vault.asked });
});
afterAll(async () => {
  await vault.close();
  rmSync(folder, { recursive: true });
});

async function failure(promise: Promise<unknown>): Promise<HlvmError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(HlvmError);
  expect(String(thrown) + JSON.stringify(thrown)).not.toContain(SECRET);
  return thrown as HlvmError;
}

describe.each([
  ["a file", (): KeyWrapper => new FileKeyWrapper(file)],
  ["Vault", (): KeyWrapper => vaultWrapper()],
])("secrets that are sealed by %s", (_name, wrapperOf) => {
  it("are opened again, differ each time, and never hold what they are", async () => {
    const [one, other] = [await sealSecret(wrapperOf(), SECRET, ROW), await sealSecret(wrapperOf(), SECRET, ROW)];
    expect(await openSecret(wrapperOf(), one, ROW)).toBe(SECRET);
    expect(one.sealed.equals(other.sealed)).toBe(false);
    expect(one.wrappedKey.equals(other.wrappedKey)).toBe(false);
    expect(Buffer.concat([one.sealed, one.wrappedKey]).includes(SECRET)).toBe(false);
    expect(vault.asked.join("")).not.toContain(Buffer.from(SECRET).toString("base64"));
  });

  it("are not read in another row, with another's data key, or where a byte was changed", async () => {
    const wrapper = wrapperOf();
    const [one, other] = [await sealSecret(wrapper, SECRET, ROW), await sealSecret(wrapper, "sk-other", ROW)];
    const unreadable = async (sealed: typeof one, row = ROW): Promise<void> =>
      expect((await failure(openSecret(wrapper, sealed, row))).reason).toBe("key_not_readable");
    await unreadable(one, '["globex","","anthropic","1"]');
    await unreadable({ ...one, sealed: other.sealed });
    for (let at = 0; at < one.sealed.length; at++) {
      const sealed = Buffer.from(one.sealed);
      sealed[at]! ^= 1;
      await unreadable({ ...one, sealed });
    }
    await unreadable({ ...one, sealed: one.sealed.subarray(0, 20) });
  });
});

describe("a file of key-encryption keys", () => {
  it("is changed without a restart: a new one on top seals, the old ones still open", async () => {
    const wrapper = new FileKeyWrapper(file);
    const old = line("first");
    writeFileSync(file, old);
    const before = await sealSecret(wrapper, SECRET, ROW);
    writeFileSync(file, `# of 2027\n${line("second")}${old}`);
    const after = await sealSecret(wrapper, SECRET, ROW);
    expect([before.wrappedBy, after.wrappedBy]).toEqual(["first", "second"]);
    expect([await openSecret(wrapper, before, ROW), await openSecret(wrapper, after, ROW)]).toEqual([SECRET, SECRET]);
    writeFileSync(file, line("second"));
    expect(await failure(openSecret(wrapper, before, ROW))).toMatchObject({
      reason: "wrapping_key_missing",
      message: expect.stringContaining('"first"'),
    });
    expect((await failure(openSecret(wrapper, after, ROW))).reason).toBe("key_not_readable");
  });

  it.each([
    ["that is not there", undefined],
    ["that is empty", "# nothing\n\n"],
    ["with a key of the wrong length", `first ${randomBytes(16).toString("base64")}\n`],
    ["with a key that has no name", `${randomBytes(32).toString("base64")}\n`],
  ])("is refused %s, and no line of it is told", async (_what, content) => {
    rmSync(file);
    if (content !== undefined) writeFileSync(file, content);
    const { reason, message } = await failure(sealSecret(new FileKeyWrapper(file), SECRET, ROW));
    expect(reason).toBe("wrapping_key_missing");
    for (const word of (content ?? "").split(/\s+/).filter((each) => each.length > 10)) expect(message).not.toContain(word);
  });
});

describe("Vault", () => {
  it("is asked with the token that its file holds now", async () => {
    const sealed = await sealSecret(vaultWrapper(), SECRET, ROW);
    vault.token = "second token";
    expect(await failure(openSecret(vaultWrapper(), sealed, ROW))).toMatchObject({ reason: "key_wrapper_unavailable" });
    writeFileSync(tokenFile, "second token");
    expect(await openSecret(vaultWrapper(), sealed, ROW)).toBe(SECRET);
  });

  it.each([
    ["answers a page", { status: 200, body: "<html>proxy</html>" }],
    ["answers nothing of use", { status: 200, body: '{"data":{}}' }],
    ["is sealed", { status: 503, body: '{"errors":["Vault is sealed"]}' }],
    ["sends elsewhere", { status: 307, body: "", headers: { location: "http://127.0.0.1:1/" } }],
  ])("that %s is said to be away, which is no reason to drop a key", async (_what, answer) => {
    const sealed = await sealSecret(vaultWrapper(), SECRET, ROW);
    vault.answer = answer;
    expect((await failure(openSecret(vaultWrapper(), sealed, ROW))).reason).toBe("key_wrapper_unavailable");
    expect((await failure(sealSecret(vaultWrapper(), SECRET, ROW))).reason).toBe("key_wrapper_unavailable");
  });
});

import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readPublicKeys } from "./public-keys.ts";
import { createSigningKey, readSigningKey } from "./signing-key.ts";

type Made = Awaited<ReturnType<typeof createSigningKey>>;

let directory: string;
let old: Made;
let next: Made;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-keys-"));
  [old, next] = await Promise.all([createSigningKey("edge"), createSigningKey("edge")]);
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

/** Puts a file in place of another, whole, as a rotation does. */
function write(name: string, content: object | string): string {
  const path = join(directory, name);
  writeFileSync(`${path}.draft`, typeof content === "string" ? content : JSON.stringify(content));
  renameSync(`${path}.draft`, path);
  return path;
}

const setOf = (...made: Made[]) => ({ keys: made.map(({ publicJwk }) => publicJwk) });
const kidOf = ({ publicJwk }: Made): string => publicJwk.kid!;

describe("the public keys in a file", () => {
  it("name the service of each", () => {
    const keys = readPublicKeys(write("set", setOf(old)));
    expect(keys.find(kidOf(old))).toMatchObject({ service: "edge" });
    expect(keys.find("edge")).toBeUndefined();
  });

  it("are read again at once for a key that is missed", () => {
    const keys = readPublicKeys(write("set", setOf(old)));
    write("set", setOf(old, next));
    expect(keys.find(kidOf(next))).toMatchObject({ service: "edge" });
    expect(keys.find(kidOf(old))).toMatchObject({ service: "edge" });
  });

  it("are not looked for more than once a second, whatever keys anybody names", () => {
    const keys = readPublicKeys(write("set", setOf(old)));
    for (let index = 0; index < 100; index++) expect(keys.find(`edge.${index}`)).toBeUndefined();
    write("set", setOf(old, next));
    expect(keys.find(kidOf(next))).toBeUndefined();
    vi.advanceTimersByTime(1_000);
    expect(keys.find(kidOf(next))).toMatchObject({ service: "edge" });
  });

  it("no longer hold, after a second at most, what was taken out", () => {
    const keys = readPublicKeys(write("set", setOf(old, next)));
    write("set", setOf(next));
    vi.advanceTimersByTime(1_000);
    expect(keys.find(kidOf(old))).toBeUndefined();
    expect(keys.find(kidOf(next))).toMatchObject({ service: "edge" });
  });

  it("no longer hold what has expired", () => {
    const exp = Date.now() / 1000 + 60;
    const keys = readPublicKeys(write("set", { keys: [{ ...old.publicJwk, exp }] }));
    expect(keys.find(kidOf(old))).toMatchObject({ service: "edge" });
    vi.advanceTimersByTime(61_000);
    expect(keys.find(kidOf(old))).toBeUndefined();
  });

  it("stay as they were where the file is spoilt, and are read when it is whole again", () => {
    const keys = readPublicKeys(write("set", setOf(old)));
    for (const spoilt of ["", "{", '{"keys":[{"kid":"edge.1"}]}']) {
      write("set", spoilt);
      vi.advanceTimersByTime(1_000);
      expect(keys.find(kidOf(old))).toMatchObject({ service: "edge" });
    }
    write("set", setOf(next));
    vi.advanceTimersByTime(1_000);
    expect(keys.find(kidOf(next))).toMatchObject({ service: "edge" });
  });

  it("have to be there at the start", () => {
    for (const path of [join(directory, "nothing"), write("broken", "{"), write("private", { keys: "none" })])
      expect(() => readPublicKeys(path)).toThrow(expect.objectContaining({ reason: "key_not_readable" }));
  });
});

describe("the signing key in a file", () => {
  it("is another one within a second after it was replaced", () => {
    const current = readSigningKey(write("key", old.privateJwk));
    expect(current()).toMatchObject({ kid: kidOf(old), service: "edge" });
    write("key", next.privateJwk);
    expect(current().kid).toBe(kidOf(old));
    vi.advanceTimersByTime(1_000);
    expect(current().kid).toBe(kidOf(next));
  });

  it("is refused where it is no private key", () => {
    expect(() => readSigningKey(write("key", old.publicJwk))).toThrow("it is not a private JWK with a kid");
  });
});

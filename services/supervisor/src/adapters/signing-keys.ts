import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DELEGATION_SECONDS } from "@hlvm/identity/delegation";
import type { PublicJwk } from "@hlvm/identity/public-keys";
import { serviceOfKey } from "@hlvm/identity/service-name";
import type { JWK } from "@hlvm/identity/signing-key";
import type { RotatedKeys } from "@hlvm/mesh/rotate-keys";
import type { HlvmFiles } from "./hlvm-files.ts";
import { keepPrivateFile, writePrivateFile, type Notice } from "./private-file.ts";

const SIGNERS = ["edge", "orchestrator", "policy"] as const;
type Signer = (typeof SIGNERS)[number];

/** Services look once a second whether the keys have changed: after this long none of them misses a new one. */
const PUBLISH_MILLISECONDS = 2_000;
/** The longest that anything holds which a replaced key signed, and what the replacing itself and a clock that is off may take. */
const REPLACED_SECONDS = DELEGATION_SECONDS + 300;

/**
 * The keys of all services that sign. The private half of each is in a file of its own, for that service alone; the public
 * halves of those whose word counts for the same are in one set, those that were replaced with the time until they count.
 */
export class SigningKeys {
  /** JWK set of those whose tokens are believed: edge and orchestrator. */
  readonly tokenPublicKeys: string;
  /** JWK set of those whose grants are believed: policy. */
  readonly grantPublicKeys: string;
  readonly #folder: string;
  #rotation: Promise<unknown> = Promise.resolve();

  private constructor(folder: string) {
    this.#folder = folder;
    this.tokenPublicKeys = join(folder, "token-public.jwks");
    this.grantPublicKeys = join(folder, "grant-public.jwks");
  }

  /** Makes the keys that are missing, and writes anew which public keys are believed. */
  static async keep(files: HlvmFiles, notice: Notice): Promise<SigningKeys> {
    const keys = new SigningKeys(files.keys);
    const kept = SIGNERS.map((signer) =>
      keepPrivateFile(keys.signingKey(signer), async () => JSON.stringify((await newKey(signer)).privateJwk), notice),
    );
    const current = (await Promise.all(kept)).map(publicHalf);
    keys.#publish(current, keys.#replaced(new Set(current.map(({ kid }) => kid))));
    return keys;
  }

  /** The file with the private JWK of one signer. */
  signingKey(signer: Signer): string {
    return join(this.#folder, `${signer}.jwk`);
  }

  /**
   * Gives every signer a new key. The public halves are there before anybody signs with the new ones, and those of the
   * replaced keys stay until all that they signed has expired: no call fails, before, meanwhile or after.
   */
  rotate(): Promise<RotatedKeys> {
    const rotation = this.#rotation.then(() => this.#rotate());
    this.#rotation = rotation.catch(() => undefined);
    return rotation;
  }

  async #rotate(): Promise<RotatedKeys> {
    const exp = Math.floor(Date.now() / 1000) + REPLACED_SECONDS;
    const before = SIGNERS.map((signer) => publicHalf(readFileSync(this.signingKey(signer), "utf8")));
    const made = await Promise.all(SIGNERS.map(newKey));
    const replaced = [...before.map((jwk) => ({ ...jwk, exp })), ...this.#replaced(new Set(before.map(({ kid }) => kid)))];
    this.#publish(
      made.map(({ publicJwk }) => publicJwk),
      replaced,
    );
    await sleep(PUBLISH_MILLISECONDS);
    for (const [index, signer] of SIGNERS.entries()) writePrivateFile(this.signingKey(signer), JSON.stringify(made[index]!.privateJwk));
    const rotated = SIGNERS.map((service, index) => ({ service, kid: made[index]!.publicJwk.kid!, replaced: before[index]!.kid! }));
    return { rotated, replacedCountUntil: new Date(exp * 1000).toISOString() };
  }

  /** Keys that were replaced and still count; those that expired are left out for good. */
  #replaced(current: ReadonlySet<string | undefined>): PublicJwk[] {
    const sets = [this.tokenPublicKeys, this.grantPublicKeys].filter((path) => existsSync(path));
    const keys = sets.flatMap((path) => (JSON.parse(readFileSync(path, "utf8")) as { keys: PublicJwk[] }).keys);
    return keys.filter(({ kid, exp = 0 }) => exp > Date.now() / 1000 && !current.has(kid));
  }

  #publish(current: readonly PublicJwk[], replaced: readonly PublicJwk[]): void {
    const all = [...current, ...replaced];
    const setOf = (...signers: Signer[]): string =>
      JSON.stringify({ keys: all.filter(({ kid = "" }) => signers.includes(serviceOfKey(kid) as Signer)) });
    writePrivateFile(this.tokenPublicKeys, setOf("edge", "orchestrator"));
    writePrivateFile(this.grantPublicKeys, setOf("policy"));
  }
}

async function newKey(signer: Signer): Promise<{ privateJwk: JWK; publicJwk: JWK }> {
  // Loaded only for the very first start and for a rotation: it costs as much as everything else here together.
  const { createSigningKey } = await import("@hlvm/identity/signing-key");
  return createSigningKey(signer);
}

function publicHalf(privateJwk: string): PublicJwk {
  const { d: _, ...publicJwk } = JSON.parse(privateJwk) as JWK;
  return publicJwk;
}

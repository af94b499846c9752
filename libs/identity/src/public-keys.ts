import { createPublicKey, type KeyObject } from "node:crypto";
import type { JWK } from "jose";
import { KeyFile } from "./key-file.ts";
import { serviceOfKey } from "./service-name.ts";

/** `exp`: seconds since 1970 from which on it counts no more. */
export type PublicJwk = JWK & { readonly exp?: number };

/** The public half of a key, and whose it is. */
export interface PublicKey {
  readonly service: string;
  readonly key: KeyObject;
  /** Seconds since 1970. Set where it was replaced: all that it signed has expired by then. */
  readonly expiresAt: number;
}

/** The keys that this process trusts. */
export interface PublicKeys {
  find(kid: string): PublicKey | undefined;
}

/** Those of a JWK set. @throws Error where one is no public key */
export function publicKeysOf(jwks: readonly PublicJwk[]): PublicKeys {
  const keys = parse(jwks);
  return { find: (kid) => current(keys.get(kid)) };
}

/**
 * Those of a JWK set in a file, which may be replaced at any time.
 * @throws HlvmError `key_not_readable`
 */
export function readPublicKeys(path: string): PublicKeys {
  const file = new KeyFile(path, (text) => parse((JSON.parse(text) as { keys: PublicJwk[] }).keys));
  return { find: (kid) => current(file.content.get(kid) ?? file.latest.get(kid)) };
}

function parse(jwks: readonly PublicJwk[]): ReadonlyMap<string, PublicKey> {
  return new Map(
    jwks.map((jwk) => {
      const kid = String(jwk.kid);
      const key = createPublicKey({ key: jwk, format: "jwk" });
      if (key.asymmetricKeyType !== "ed25519") throw new Error(`${kid} is not an Ed25519 key`);
      return [kid, { service: serviceOfKey(kid), key, expiresAt: jwk.exp ?? Number.POSITIVE_INFINITY }];
    }),
  );
}

function current(key: PublicKey | undefined): PublicKey | undefined {
  return key !== undefined && key.expiresAt > Date.now() / 1000 ? key : undefined;
}

import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JWK } from "@hlvm/identity/signing-key";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Public keys of those whose grants count, by name. */
export type GrantKeys = ReadonlyMap<string, KeyObject>;

export function grantKeys(jwks: readonly JWK[]): GrantKeys {
  return new Map(jwks.map((jwk) => [String(jwk.kid), createPublicKey({ key: jwk, format: "jwk" })]));
}

/**
 * Reads a JWK set.
 * @throws HlvmError `key_not_readable`
 */
export function readGrantKeys(path: string): GrantKeys {
  try {
    return grantKeys((JSON.parse(readFileSync(path, "utf8")) as { keys: JWK[] }).keys);
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "key_not_readable",
      message: `The keys for grants in ${path} cannot be used: ${(cause as Error).message}.`,
      advice: "Give the path of a JWK set that this process may read.",
      cause,
    });
  }
}

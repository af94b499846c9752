import { readFileSync } from "node:fs";
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/**
 * Reads a JWK set: the public keys that this process trusts, each under the name (`kid`) of its owner.
 * @throws HlvmError `key_not_readable`
 */
export function readPublicKeys(path: string): JWTVerifyGetKey {
  try {
    return createLocalJWKSet(JSON.parse(readFileSync(path, "utf8")) as JSONWebKeySet);
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "key_not_readable",
      message: `The public keys in ${path} cannot be used: ${(cause as Error).message}.`,
      advice: "Give the path of a JWK set that this process may read.",
      cause,
    });
  }
}

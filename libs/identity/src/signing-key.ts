import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { HlvmError } from "@hlvm/errors/hlvm-error";

export type { JWK };

export const SIGNING_ALGORITHM = "EdDSA";

/** A private Ed25519 key and the name under which others know its public half. */
export interface SigningKey {
  readonly name: string;
  readonly key: KeyObject;
}

/** A new key pair as JWKs; `kid` is the name. */
export async function createSigningKey(name: string): Promise<{ privateJwk: JWK; publicJwk: JWK }> {
  const pair = await generateKeyPair(SIGNING_ALGORITHM, { crv: "Ed25519", extractable: true });
  const common = { kid: name, alg: SIGNING_ALGORITHM, use: "sig" };
  return {
    privateJwk: { ...(await exportJWK(pair.privateKey)), ...common },
    publicJwk: { ...(await exportJWK(pair.publicKey)), ...common },
  };
}

/** @throws Error where it is no private Ed25519 key with a `kid` */
export function signingKeyOf(jwk: JWK): SigningKey {
  if (jwk.kid === undefined || jwk.d === undefined) throw new Error("it is not a private JWK with a kid");
  const key = createPrivateKey({ key: jwk, format: "jwk" });
  if (key.asymmetricKeyType !== "ed25519") throw new Error("it is not an Ed25519 key");
  return { name: jwk.kid, key };
}

/**
 * Reads a private JWK from a file.
 * @throws HlvmError `key_not_readable`
 */
export function readSigningKey(path: string): SigningKey {
  try {
    const jwk = JSON.parse(readFileSync(path, "utf8")) as JWK;
    return signingKeyOf(jwk);
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "key_not_readable",
      message: `The signing key ${path} cannot be used: ${(cause as Error).message}.`,
      advice: "Give the path of a private Ed25519 JWK that this process may read.",
      cause,
    });
  }
}

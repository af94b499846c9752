import { createPrivateKey, randomBytes, type KeyObject } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { KeyFile } from "./key-file.ts";
import { serviceOfKey } from "./service-name.ts";

export type { JWK };

export const SIGNING_ALGORITHM = "EdDSA";
const KID_BYTES = 9;

/** A private Ed25519 key, and under which name others know its public half. */
export interface SigningKey {
  readonly kid: string;
  /** Whose key it is: the beginning of its `kid`. */
  readonly service: string;
  readonly key: KeyObject;
}

/** The key to sign with now: another one after a rotation. */
export type CurrentSigningKey = () => SigningKey;

/** A new key pair of a service as JWKs, `kid` its name and a random part: no two keys share one. */
export async function createSigningKey(service: string): Promise<{ privateJwk: JWK; publicJwk: JWK }> {
  const pair = await generateKeyPair(SIGNING_ALGORITHM, { crv: "Ed25519", extractable: true });
  const common = { kid: `${service}.${randomBytes(KID_BYTES).toString("base64url")}`, alg: SIGNING_ALGORITHM, use: "sig" };
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
  return { kid: jwk.kid, service: serviceOfKey(jwk.kid), key };
}

/**
 * A private JWK in a file, which may be replaced at any time.
 * @throws HlvmError `key_not_readable`
 */
export function readSigningKey(path: string): CurrentSigningKey {
  const file = new KeyFile(path, (text) => signingKeyOf(JSON.parse(text) as JWK));
  return () => file.content;
}

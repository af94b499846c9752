import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Wraps data keys with a key that it does not give away. */
export interface KeyWrapper {
  /** @param context what the data key belongs to: it is unwrapped for nothing else */
  wrap(dataKey: Buffer, context: string): Promise<{ readonly wrappedBy: string; readonly wrappedKey: Buffer }>;
  /** @throws HlvmError `wrapping_key_missing`, `key_not_readable`, `key_wrapper_unavailable` */
  unwrap(wrappedBy: string, wrappedKey: Buffer, context: string): Promise<Buffer>;
}

export interface SealedSecret {
  readonly wrappedBy: string;
  readonly wrappedKey: Buffer;
  /** Nonce, ciphertext and tag. */
  readonly sealed: Buffer;
}

/** Encrypts with a fresh data key, which only the wrapper can give back. */
export async function sealSecret(wrapper: KeyWrapper, secret: string, context: string): Promise<SealedSecret> {
  const dataKey = randomBytes(KEY_BYTES);
  const wrapped = await wrapper.wrap(dataKey, context);
  return { ...wrapped, sealed: encrypt(dataKey, Buffer.from(secret, "utf8"), context) };
}

/** @throws HlvmError `key_not_readable` where anything of it was changed, or belongs to another context */
export async function openSecret(wrapper: KeyWrapper, { wrappedBy, wrappedKey, sealed }: SealedSecret, context: string): Promise<string> {
  return decrypt(await wrapper.unwrap(wrappedBy, wrappedKey, context), sealed, context).toString("utf8");
}

/** @param key 32 bytes @param context authenticated with it */
export function encrypt(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context, "utf8"));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws HlvmError `key_not_readable` */
export function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer {
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context, "utf8")).setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "key_not_readable",
      message: "A provider's key that is stored cannot be read: it, or the key that it is encrypted with, is not what it was.",
      advice: "Restore the file of HLVM_KEY_ENCRYPTION_KEYS from a backup, or remove the key and add it again: `hlvm model key list`.",
      cause,
    });
  }
}

import { readFile } from "node:fs/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { decrypt, encrypt, type KeyWrapper } from "../../domain/keys/sealed-secret.ts";

const KEY_BYTES = 32;
const LINE = /^([\w.-]{1,64})[ \t]+([A-Za-z0-9+/]{43}=)$/;

/**
 * Wraps with keys from a file, one a line: a name and 32 bytes in base64. The first wraps, the others still unwrap: another one is put on
 * top to change it. The file is read for each use, so that this needs no restart.
 */
export class FileKeyWrapper implements KeyWrapper {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async wrap(dataKey: Buffer, context: string): Promise<{ wrappedBy: string; wrappedKey: Buffer }> {
    const [[name, key]] = (await this.#keys()) as [[string, Buffer]];
    return { wrappedBy: name, wrappedKey: encrypt(key, dataKey, context) };
  }

  async unwrap(wrappedBy: string, wrappedKey: Buffer, context: string): Promise<Buffer> {
    const key = new Map(await this.#keys()).get(wrappedBy);
    if (key === undefined)
      throw new HlvmError({
        code: "failed_precondition",
        reason: "wrapping_key_missing",
        message: `A provider's key is encrypted with "${wrappedBy}", which is not in ${this.#path}.`,
        advice: "Put that line back from a backup of the file, or add the provider's key again.",
      });
    return decrypt(key, wrappedKey, context);
  }

  async #keys(): Promise<readonly (readonly [name: string, key: Buffer])[]> {
    const text = await readFile(this.#path, "utf8").catch((cause: unknown) => {
      throw this.#unreadable(messageOf(cause), cause);
    });
    const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
    const keys = lines.map((line, index) => {
      const [, name, key] = LINE.exec(line.trimEnd()) ?? [];
      if (name === undefined || key === undefined) throw this.#unreadable(`its line ${index + 1} is no name and 32 bytes in base64`);
      return [name, Buffer.from(key, "base64").subarray(0, KEY_BYTES)] as const;
    });
    if (keys.length === 0) throw this.#unreadable("it has no key");
    return keys;
  }

  /** Without a line of the file in its words. */
  #unreadable(why: string, cause?: unknown): HlvmError {
    return new HlvmError({
      code: "failed_precondition",
      reason: "wrapping_key_missing",
      message: `The file of key-encryption keys, ${this.#path}, cannot be used: ${why}.`,
      advice: "HLVM_KEY_ENCRYPTION_KEYS names it; `openssl rand -base64 32` makes a key.",
      cause,
    });
  }
}

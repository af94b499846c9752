import { readFile } from "node:fs/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { KeyWrapper } from "../../domain/keys/sealed-secret.ts";

const DEADLINE_MILLISECONDS = 5_000;
const MOST_BYTES = 64 * 1024;

export interface VaultSettings {
  /** Up to and without `/v1`. */
  readonly url: string;
  /** Of the transit engine: `transit/KEY`. */
  readonly key: string;
  /** A file with the token, read for each use: an agent renews it. */
  readonly tokenFile: string;
}

/** Wraps by the transit engine of HashiCorp Vault, or of OpenBao: the key-encryption key never leaves it. */
export class VaultKeyWrapper implements KeyWrapper {
  readonly #settings: VaultSettings;

  constructor(settings: VaultSettings) {
    this.#settings = settings;
  }

  async wrap(dataKey: Buffer, context: string): Promise<{ wrappedBy: string; wrappedKey: Buffer }> {
    const { ciphertext } = await this.#ask("encrypt", { plaintext: dataKey.toString("base64"), ...authenticated(context) });
    if (typeof ciphertext !== "string") throw this.#unavailable("it answered without a ciphertext");
    return { wrappedBy: `vault:${this.#settings.key}`, wrappedKey: Buffer.from(ciphertext, "utf8") };
  }

  async unwrap(_wrappedBy: string, wrappedKey: Buffer, context: string): Promise<Buffer> {
    const { plaintext } = await this.#ask("decrypt", { ciphertext: wrappedKey.toString("utf8"), ...authenticated(context) });
    if (typeof plaintext !== "string") throw this.#unavailable("it answered without a plaintext");
    return Buffer.from(plaintext, "base64");
  }

  async #ask(what: "encrypt" | "decrypt", body: object): Promise<{ readonly plaintext?: unknown; readonly ciphertext?: unknown }> {
    const { url, key, tokenFile } = this.#settings;
    const [engine, name] = key.split("/") as [string, string];
    const address = `${url.replace(/\/+$/, "")}/v1/${engine}/${what}/${encodeURIComponent(name)}`;
    try {
      const token = (await readFile(tokenFile, "utf8")).trim();
      const response = await fetch(address, {
        method: "POST",
        redirect: "error",
        headers: { "x-vault-token": token, "content-type": "application/json", "accept-encoding": "identity" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
      });
      const text = (await response.text()).slice(0, MOST_BYTES);
      if (response.status === 400 && what === "decrypt") throw notReadable();
      if (!response.ok) throw this.#unavailable(`it answered ${response.status}`);
      return (JSON.parse(text) as { data?: object }).data ?? {};
    } catch (cause) {
      throw cause instanceof HlvmError ? cause : this.#unavailable(messageOf(cause), cause);
    }
  }

  #unavailable(why: string, cause?: unknown): HlvmError {
    return new HlvmError({
      code: "unavailable",
      reason: "key_wrapper_unavailable",
      message: `Vault at ${this.#settings.url} does not wrap keys: ${why}.`,
      advice:
        "Look at HLVM_VAULT_URL, HLVM_VAULT_KEY and the token in HLVM_VAULT_TOKEN_FILE, and whether its policy allows encrypt and decrypt.",
      cause,
    });
  }
}

function authenticated(context: string): { readonly associated_data: string } {
  return { associated_data: Buffer.from(context, "utf8").toString("base64") };
}

function notReadable(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "key_not_readable",
    message: "Vault does not decrypt a provider's key that is stored: it, or the row that it stands in, is not what it was.",
    advice: "Remove the key and add it again: `hlvm model key list`.",
  });
}

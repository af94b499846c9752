import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import type { Principal } from "@hlvm/identity/principal";
import { notResumable } from "./not-resumable.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** Whose an answer is, and where. */
export interface Resumable {
  /** The answer's name, in this gateway and at the server that gives it. */
  readonly answer: string;
  readonly organization: string;
  readonly principal: string;
  /** The gateway's that began it. */
  readonly replica: string;
  /** `provider/name`. */
  readonly model: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Makes of an answer's place a token that nobody else can make, read or alter. */
export class ResumeSeal {
  readonly #key: Buffer;

  /** @param secret that gateways share; empty: what this process seals nobody else opens */
  constructor(secret: string) {
    const material = secret === "" ? randomBytes(KEY_BYTES) : Buffer.from(secret);
    this.#key = Buffer.from(hkdfSync("sha256", material, "", "hlvm answers that can be resumed", KEY_BYTES));
  }

  /** Tells the answers of one gateway from those of others at a server that all of them use. */
  prefixOf(replica: string): string {
    return `hlvm-${createHash("sha256").update(this.#key).update(replica).digest("hex").slice(0, 16)}`;
  }

  seal(resumable: Resumable): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(resumable)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** @throws ModelError `resume_not_possible`, the same whatever is wrong with it */
  open(token: string, { organization, id }: Pick<Principal, "organization" | "id">): Resumable {
    const opened = this.#read(token);
    if (opened === undefined || opened.organization !== organization || opened.principal !== id)
      throw notResumable("the token is none of this caller's");
    if (opened.expiresAt <= Date.now()) throw notResumable("the token has expired");
    return opened;
  }

  #read(token: string): Resumable | undefined {
    const bytes = Buffer.from(token, "base64url");
    const head = NONCE_BYTES + TAG_BYTES;
    if (bytes.length <= head) return undefined;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, head));
      const text = Buffer.concat([decipher.update(bytes.subarray(head)), decipher.final()]).toString();
      return JSON.parse(text) as Resumable;
    } catch {
      return undefined;
    }
  }
}

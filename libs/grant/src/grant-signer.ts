import { randomUUID } from "node:crypto";
import { signJws } from "@hlvm/identity/compact-jws";
import type { CurrentSigningKey } from "@hlvm/identity/signing-key";
import type { Grant } from "./grant.ts";

const LIFETIME_SECONDS = 60;

/** Signs grants; only policy holds the key. A grant lives 60 s: it is used at once or not at all. */
export class GrantSigner {
  readonly #key: CurrentSigningKey;

  constructor(key: CurrentSigningKey) {
    this.#key = key;
  }

  sign(grant: Omit<Grant, "id" | "expiresAt">): string {
    const signed: Grant = { ...grant, id: randomUUID(), expiresAt: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS };
    return signJws(signed, "hlvm-grant+jwt", this.#key());
  }
}

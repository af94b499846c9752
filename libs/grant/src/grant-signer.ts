import { randomUUID, type KeyObject } from "node:crypto";
import type { SigningKey } from "@hlvm/identity/signing-key";
import type { Grant } from "./grant.ts";
import { signText } from "./signed-text.ts";

const LIFETIME_SECONDS = 60;

/** Signs grants; only policy holds the key. A grant lives 60 s: it is used at once or not at all. */
export class GrantSigner {
  readonly #name: string;
  readonly #key: KeyObject;

  constructor({ name, key }: SigningKey) {
    this.#name = name;
    this.#key = key;
  }

  sign(grant: Omit<Grant, "id" | "expiresAt">): string {
    const signed: Grant = { ...grant, id: randomUUID(), expiresAt: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS };
    return signText(signed, this.#name, this.#key);
  }
}

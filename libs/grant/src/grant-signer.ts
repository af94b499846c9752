import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { SIGNING_ALGORITHM, type SigningKey } from "@hlvm/identity/signing-key";
import type { Grant } from "./grant.ts";

export const GRANT_AUDIENCE = "hlvm-executor";
const LIFETIME_SECONDS = 60;

/** Signs grants; only policy holds the key. A grant lives 60 s: it is used at once or not at all. */
export class GrantSigner {
  readonly #key: SigningKey;

  constructor(key: SigningKey) {
    this.#key = key;
  }

  async sign(grant: Omit<Grant, "id" | "expiresAt">): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const { organization, principal, sessionId, runId, callId, tool, definitionHash, argumentsHash, policyVersion } = grant;
    return new SignJWT({ organization, sessionId, runId, callId, tool, definitionHash, argumentsHash, policyVersion })
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: this.#key.name })
      .setSubject(principal)
      .setAudience(GRANT_AUDIENCE)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + LIFETIME_SECONDS)
      .sign(this.#key.key);
  }
}

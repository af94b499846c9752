import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ROLES } from "@hlvm/identity/principal";
import type { Authenticator, Caller } from "../domain/authenticator.ts";

const MINIMUM_TOKEN_LENGTH = 32;

/** Local mode: one user, who has every role and proves to be it by the token in a file that only that user can read. */
export class LocalAuthenticator implements Authenticator {
  readonly #digest: Buffer;
  readonly #caller: Caller;

  constructor(token: string, userName: string) {
    this.#digest = digest(token);
    this.#caller = { principal: { organization: "local", id: `user:${userName}`, roles: ROLES } };
  }

  /** @throws HlvmError `token_file_not_usable` */
  static fromFile(path: string): LocalAuthenticator {
    try {
      const token = readFileSync(path, "utf8").trim();
      if (token.length < MINIMUM_TOKEN_LENGTH) throw new Error(`it holds fewer than ${MINIMUM_TOKEN_LENGTH} characters`);
      return new LocalAuthenticator(token, localUserName());
    } catch (cause) {
      throw new HlvmError({
        code: "failed_precondition",
        reason: "token_file_not_usable",
        message: `The local token file ${path} cannot be used: ${(cause as Error).message}.`,
        advice: "Delete the file and start the mesh again: a new token is made.",
        cause,
      });
    }
  }

  async authenticate(authorization: string | undefined): Promise<Caller> {
    if (authorization === undefined) throw refusal("token_missing", "The request carries no token.");
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined || !timingSafeEqual(digest(token), this.#digest))
      throw refusal("token_refused", "The request carries a wrong token.");
    return this.#caller;
  }
}

/** Digests are of one length, as a comparison in constant time demands. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function localUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user number without an entry in the machine's list of users, as containers have them.
    return `uid-${process.getuid?.() ?? 0}`;
  }
}

function refusal(reason: string, message: string): HlvmError {
  return new HlvmError({
    code: "unauthenticated",
    reason,
    message,
    advice: "Send `Authorization: Bearer TOKEN` with the token from the file `token` in the HLVM directory (`hlvm doctor` names it).",
  });
}

import { createHash, randomBytes } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Authenticator, Caller } from "./authenticator.ts";

/** A code is opened in a browser at once, or not at all. */
const CODE_MILLISECONDS = 60_000;
/** Of codes and of tokens each; where there are more, the oldest goes. */
const MOST_KEPT = 256;
const PREFIX = "hlvm_page_";

/**
 * Lets a browser in on this machine without a cookie, which every port of the machine would be sent. Whoever has the token file
 * gets a code that is good once; the page swaps it for a token that is kept here in memory and dies with the edge.
 */
export class PageLogins implements Authenticator {
  readonly #others: Authenticator;
  /** By hash, oldest first. */
  readonly #codes = new Map<string, { readonly caller: Caller; readonly until: number }>();
  readonly #tokens = new Map<string, Caller>();

  constructor(others: Authenticator) {
    this.#others = others;
  }

  /** A code for this caller, who has to be a person and no token of theirs. @throws HlvmError `person_needed` */
  issueCode(caller: Caller): string {
    if (caller.scopes !== undefined)
      throw new HlvmError({
        code: "permission_denied",
        reason: "person_needed",
        message: "A token does not open the page.",
        advice: "Run `hlvm web` as the user who started the mesh, without HLVM_TOKEN.",
      });
    const code = randomBytes(32).toString("base64url");
    keep(this.#codes, hashOf(code), { caller, until: performance.now() + CODE_MILLISECONDS });
    return code;
  }

  /** @throws HlvmError `code_refused` where it was used, has expired or was never made */
  redeemCode(code: string): string {
    const hash = hashOf(code);
    const issued = this.#codes.get(hash);
    this.#codes.delete(hash);
    if (issued === undefined || issued.until < performance.now())
      throw new HlvmError({
        code: "unauthenticated",
        reason: "code_refused",
        message: "This link was used already, or is older than a minute.",
        advice: "Run `hlvm web` for another one.",
      });
    const token = PREFIX + randomBytes(32).toString("base64url");
    keep(this.#tokens, hashOf(token), issued.caller);
    return token;
  }

  async authenticate(authorization: string | undefined): Promise<Caller> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token?.startsWith(PREFIX) !== true) return this.#others.authenticate(authorization);
    const caller = this.#tokens.get(hashOf(token));
    if (caller !== undefined) return caller;
    throw new HlvmError({
      code: "unauthenticated",
      reason: "token_refused",
      message: "This page was opened before the mesh was started again.",
      advice: "Run `hlvm web` to open it anew.",
    });
  }
}

function keep<Value>(kept: Map<string, Value>, hash: string, value: Value): void {
  kept.set(hash, value);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT) kept.delete(oldest!);
}

/** What is looked up is a hash, so that how long a comparison takes tells nothing. */
function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

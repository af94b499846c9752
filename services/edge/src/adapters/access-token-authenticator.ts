import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { hashAccessToken, isAccessToken } from "@hlvm/identity/access-token";
import { ROLES, type Role } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { tokenScopeWords } from "@hlvm/proto/hlvm/identity/v1/identity_words";
import { TokenResolverService, TokenScopeSchema, type ResolveTokenResponse } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { outgoing } from "@hlvm/rpc/call-context";
import type { Authenticator, Caller, Scope } from "../domain/authenticator.ts";

/** So long a revoked token goes on to be accepted. */
const REMEMBER_MILLISECONDS = 1_000;
const MOST_REMEMBERED = 1_000;
const DEADLINE_MILLISECONDS = 5_000;

interface Remembered {
  readonly caller: Promise<Caller>;
  readonly until: number;
}

/** Asks policy whose an access token is; any other credential is for whoever comes next. */
export class AccessTokenAuthenticator implements Authenticator {
  readonly #resolver: Client<typeof TokenResolverService>;
  readonly #minter: TokenMinter;
  readonly #others: Authenticator;
  /** By hash, in the order in which they were asked for. */
  readonly #remembered = new Map<string, Remembered>();

  constructor(policy: Transport, minter: TokenMinter, others: Authenticator) {
    this.#resolver = createClient(TokenResolverService, policy);
    this.#minter = minter;
    this.#others = others;
  }

  authenticate(authorization: string | undefined): Promise<Caller> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined || !isAccessToken(token)) return this.#others.authenticate(authorization);
    const sha256 = hashAccessToken(token);
    const now = performance.now();
    const known = this.#remembered.get(sha256);
    if (known !== undefined && known.until > now) return known.caller;
    const caller = this.#resolve(sha256);
    // What could not be told is asked again by the next.
    caller.catch((thrown: unknown) => {
      if (!(thrown instanceof HlvmError) || thrown.code !== "unauthenticated") this.#remembered.delete(sha256);
    });
    this.#remember(sha256, { caller, until: now + REMEMBER_MILLISECONDS });
    return caller;
  }

  async #resolve(sha256: string): Promise<Caller> {
    const options = outgoing({ token: this.#minter.mintOwn("policy"), remainingMilliseconds: () => DEADLINE_MILLISECONDS });
    try {
      return callerOf(await this.#resolver.resolveToken({ sha256 }, options));
    } catch (cause) {
      throw ConnectError.from(cause).code === Code.NotFound ? refused(cause) : unanswered(cause);
    }
  }

  #remember(sha256: string, remembered: Remembered): void {
    this.#remembered.delete(sha256);
    for (const [oldest, { until }] of this.#remembered) {
      if (until > performance.now() && this.#remembered.size < MOST_REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
    this.#remembered.set(sha256, remembered);
  }
}

function callerOf({ organization, principal, roles, scopes }: ResolveTokenResponse): Caller {
  const known = (word: string): word is Scope => (tokenScopeWords as readonly string[]).includes(word);
  return {
    principal: { organization, id: principal, roles: roles.filter((role): role is Role => ROLES.includes(role as Role)) },
    scopes: scopes.map((scope) => enumWord(TokenScopeSchema, scope)).filter(known),
  };
}

function refused(cause: unknown): HlvmError {
  return new HlvmError({
    code: "unauthenticated",
    reason: "token_refused",
    message: "The request carries a token that was revoked, has expired or was never made.",
    advice: "Make a new one: `hlvm token create LABEL`.",
    cause,
  });
}

function unanswered(cause: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "token_not_checked",
    message: `Nobody can tell now whose the request's token is: ${ConnectError.from(cause).rawMessage}`,
    advice: "Check that policy and its database are up (`hlvm status`), and try again.",
    cause,
  });
}

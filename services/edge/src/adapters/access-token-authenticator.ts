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
import { RememberedCallers } from "./remembered-callers.ts";

const DEADLINE_MILLISECONDS = 5_000;

/** Asks policy whose an access token is; any other credential is for whoever comes next. */
export class AccessTokenAuthenticator implements Authenticator {
  readonly #resolver: Client<typeof TokenResolverService>;
  readonly #minter: TokenMinter;
  readonly #others: Authenticator;
  readonly #callers = new RememberedCallers((sha256) => this.#resolve(sha256));

  constructor(policy: Transport, minter: TokenMinter, others: Authenticator) {
    this.#resolver = createClient(TokenResolverService, policy);
    this.#minter = minter;
    this.#others = others;
  }

  authenticate(authorization: string | undefined): Promise<Caller> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined || !isAccessToken(token, "pat", "svc")) return this.#others.authenticate(authorization);
    return this.#callers.of(hashAccessToken(token));
  }

  async #resolve(sha256: string): Promise<Caller> {
    const options = outgoing({ token: this.#minter.mintOwn("policy"), remainingMilliseconds: () => DEADLINE_MILLISECONDS });
    try {
      return callerOf(await this.#resolver.resolveToken({ sha256 }, options));
    } catch (cause) {
      throw ConnectError.from(cause).code === Code.NotFound ? refused(cause) : unanswered(cause);
    }
  }
}

function callerOf({ organization, principal, roles, scopes, tokenId, allowedModels }: ResolveTokenResponse): Caller {
  const known = (word: string): word is Scope => (tokenScopeWords as readonly string[]).includes(word);
  return {
    principal: { organization, id: principal, roles: roles.filter((role): role is Role => ROLES.includes(role as Role)) },
    scopes: scopes.map((scope) => enumWord(TokenScopeSchema, scope)).filter(known),
    token: { tokenId, allowedModels },
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

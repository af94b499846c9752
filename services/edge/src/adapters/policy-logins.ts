import { createClient, type CallOptions, type Client, type Transport } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { hashAccessToken, isAccessToken } from "@hlvm/identity/access-token";
import { ROLES, type Role } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { CredentialKind, LoginService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import type { Authenticator, Caller } from "../domain/authenticator.ts";
import { RememberedCallers } from "./remembered-callers.ts";

const DEADLINE_MILLISECONDS = 5_000;

/** Logins as policy keeps them: who comes with a cookie, or with the token of a command that is logged in. */
export class PolicyLogins implements Authenticator {
  readonly #client: Client<typeof LoginService>;
  readonly #minter: TokenMinter;
  readonly #others: Authenticator;
  readonly #browsers = new RememberedCallers((sha256) => this.#resolve(sha256, CredentialKind.BROWSER));
  readonly #commands = new RememberedCallers((sha256) => this.#resolve(sha256, CredentialKind.CLI));

  /** @param others who knows other tokens */
  constructor(policy: Transport, minter: TokenMinter, others: Authenticator) {
    this.#client = createClient(LoginService, policy);
    this.#minter = minter;
    this.#others = others;
  }

  authenticate(authorization: string | undefined): Promise<Caller> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined || !isAccessToken(token, "cli")) return this.#others.authenticate(authorization);
    return this.#commands.of(hashAccessToken(token));
  }

  /** @param secret that the browser's cookie holds */
  byCookie(secret: string): Promise<Caller> {
    return this.#browsers.of(hashAccessToken(secret));
  }

  /** Ends a login and everything that came of it; again, nothing changes. @throws HlvmError `unavailable` */
  async revoke(secret: string): Promise<void> {
    const sha256 = hashAccessToken(secret);
    await this.ask((client, options) => client.revokeCredential({ sha256 }, options));
    this.#browsers.forget(sha256);
    this.#commands.forget(sha256);
  }

  /** One question in the edge's own name. @throws HlvmError as policy answers */
  async ask<Answer>(question: (client: Client<typeof LoginService>, options: CallOptions) => Promise<Answer>): Promise<Answer> {
    const options = outgoing({ token: this.#minter.mintOwn("policy"), remainingMilliseconds: () => DEADLINE_MILLISECONDS });
    try {
      return await question(this.#client, options);
    } catch (cause) {
      throw fromConnectError(cause);
    }
  }

  async #resolve(sha256: string, kind: CredentialKind): Promise<Caller> {
    const options = outgoing({ token: this.#minter.mintOwn("policy"), remainingMilliseconds: () => DEADLINE_MILLISECONDS });
    try {
      const { organization, principal, roles } = await this.#client.resolveCredential({ sha256, kind }, options);
      const known = roles.filter((role): role is Role => ROLES.includes(role as Role));
      return { principal: { organization, id: principal, roles: known } };
    } catch (cause) {
      throw ConnectError.from(cause).code === Code.NotFound ? over(cause) : unanswered(cause);
    }
  }
}

function over(cause: unknown): HlvmError {
  return new HlvmError({
    code: "unauthenticated",
    reason: "login_needed",
    message: "Your login is over.",
    advice: "Log in again: in a browser by opening the page, in a terminal by `hlvm login URL`.",
    cause,
  });
}

function unanswered(cause: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "login_not_checked",
    message: `Nobody can tell now whose the request is: ${ConnectError.from(cause).rawMessage}`,
    advice: "Try again in a moment; whoever runs HLVM sees by `hlvm status` whether policy and its database are up.",
    cause,
  });
}

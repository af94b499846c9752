import { randomBytes } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { hashAccessToken } from "@hlvm/identity/access-token";
import type { Log } from "@hlvm/log/create-log";
import type { PolicyLogins } from "../adapters/policy-logins.ts";
import type { IdentityProvider } from "../domain/identity-provider.ts";
import { returnPath } from "../domain/return-path.ts";
import { cookieOf, LOGIN_COOKIE, SESSION_COOKIE, setCookie } from "./cookies.ts";
import type { Request } from "./read-body.ts";
import type { Response } from "./send-error.ts";

const LOGIN_SECONDS = 10 * 60;
const DAY_SECONDS = 24 * 60 * 60;

export interface LoginParts {
  readonly logins: PolicyLogins;
  readonly provider: IdentityProvider;
  readonly organization: string;
  /** Of the edge, as browsers know it. */
  readonly publicUrl: URL;
  readonly log: Log;
}

/** Logs people in with the company's identity provider: authorization code with PKCE, bound to the browser that began. */
export class BrowserLogin {
  readonly #parts: LoginParts;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  /** `GET /auth/login?to=PATH`, and `GET /auth/cli`, where a command waits for the end on a port of its machine. */
  async begin(request: Request, response: Response): Promise<void> {
    const { logins, provider, organization, publicUrl } = this.#parts;
    const { pathname, searchParams } = new URL(request.url ?? "/", publicUrl);
    const [state, nonce, codeVerifier] = [newSecret(), newSecret(), newSecret()] as const;
    // Kept where there is one, so that two tabs can log in at once.
    const browser = cookieOf(request, LOGIN_COOKIE) ?? newSecret();
    const url = await provider.loginUrl({ state, nonce, codeVerifier });
    const attempt = {
      organization,
      stateSha256: hashAccessToken(state),
      browserSha256: hashAccessToken(browser),
      nonce,
      codeVerifier,
      returnTo: returnPath(searchParams.get("to"), publicUrl),
      ...(pathname === "/auth/cli" ? { receiver: receiverOf(searchParams) } : {}),
    };
    await logins.ask((client, options) => client.beginLogin(attempt, options));
    response.writeHead(302, {
      location: url.href,
      "set-cookie": setCookie(LOGIN_COOKIE, browser, LOGIN_SECONDS, "Lax"),
      "cache-control": "no-store",
    });
    response.end();
  }

  /** `GET /auth/callback`: what the provider sent the browser back with. The credential is a new one, whatever came along. */
  async finish(request: Request, response: Response): Promise<void> {
    const { logins, provider, organization, publicUrl, log } = this.#parts;
    const { search, searchParams } = new URL(request.url ?? "/", publicUrl);
    const state = searchParams.get("state") ?? "";
    const hashes = { stateSha256: hashAccessToken(state), browserSha256: hashAccessToken(cookieOf(request, LOGIN_COOKIE) ?? "") };
    const { nonce, codeVerifier, returnTo, receiver } = await logins.ask((client, options) => client.takeLogin(hashes, options));
    const identified = await provider.identify(search, { state, nonce, codeVerifier }).catch(async (thrown: unknown) => {
      await this.#record(thrown);
      throw thrown;
    });
    const { groups, ...who } = identified;
    if (groups === undefined) log.warn({ subject: who.subject }, "the identity provider said nothing of groups; they stay as they were");
    const secret = newSecret();
    const said = { ...who, organization, secretSha256: hashAccessToken(secret), receiver };
    await logins.ask((client, options) =>
      client.finishLogin({ ...said, ...(groups === undefined ? {} : { groups: { names: [...groups] } }) }, options),
    );
    const endOfLogin = setCookie(LOGIN_COOKIE, "", 0, "Lax");
    const location =
      receiver === undefined
        ? returnPath(returnTo, publicUrl)
        : `http://127.0.0.1:${receiver.port}/?${new URLSearchParams({ code: secret, state: receiver.state }).toString()}`;
    const cookies = receiver === undefined ? [endOfLogin, setCookie(SESSION_COOKIE, secret, DAY_SECONDS, "Strict")] : [endOfLogin];
    response.writeHead(303, { location, "set-cookie": cookies, "cache-control": "no-store" });
    response.end();
  }

  /** `POST /auth/logout`, from our own page. Says where the provider's session ends, where it has such a place. */
  async end(request: Request, response: Response): Promise<void> {
    const { logins, provider } = this.#parts;
    const secret = cookieOf(request, SESSION_COOKIE);
    if (secret !== undefined) await logins.revoke(secret);
    const to = await provider.logoutUrl();
    response.writeHead(200, {
      "content-type": "application/json",
      "set-cookie": setCookie(SESSION_COOKIE, "", 0, "Strict"),
      "cache-control": "no-store",
    });
    response.end(JSON.stringify({ to: to?.href ?? "/" }));
  }

  async #record(thrown: unknown): Promise<void> {
    const { logins, organization, log } = this.#parts;
    const reason = thrown instanceof HlvmError ? thrown.reason : "internal";
    log.warn({ err: thrown, reason }, "a login failed");
    await logins.ask((client, options) => client.failLogin({ organization, reason }, options));
  }
}

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Where the command listens; what is wrong with it, policy's contract says. */
function receiverOf(query: URLSearchParams) {
  const text = (name: string): string => query.get(name) ?? "";
  return { port: Number(query.get("port")) || 0, state: text("state"), codeChallenge: text("challenge"), label: text("label") };
}

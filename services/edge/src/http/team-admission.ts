import { fromJson } from "@bufbuild/protobuf";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { BootstrapAdministratorRequestSchema } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import type { LocalAuthenticator } from "../adapters/local-authenticator.ts";
import type { Authenticator } from "../domain/authenticator.ts";
import { BrowserLogin, type LoginParts } from "./browser-login.ts";
import { commandLogin, jsonOf } from "./command-login.ts";
import { cookieOf, SESSION_COOKIE } from "./cookies.ts";
import type { Admitted, Admission } from "./admission.ts";
import { isLoopbackHostHeader } from "./loopback-host.ts";
import type { Request } from "./read-body.ts";
import { hostOf } from "./request-host.ts";
import type { Response } from "./send-error.ts";
import { sendNotice } from "./send-notice.ts";

/** What whoever runs the server asks on the machine itself, with its token file. */
const HEALTH = "/grpc.health.v1.Health/Check";
const BOOTSTRAP = "/auth/bootstrap";
const OPERATORS: ReadonlySet<string> = new Set([HEALTH, BOOTSTRAP, "/healthz"]);
/** As Connect and gRPC-Web have it: no form of another site can send one without asking first. */
const CONNECT_TYPES = /^application\/(json|proto|connect\+json|connect\+proto|grpc-web(\+proto|\+json)?)\b/;

export interface TeamParts extends LoginParts {
  /** Whoever runs the server, with the token file. */
  readonly operator: LocalAuthenticator;
  /** Knows every token that people and programs come with. */
  readonly authenticator: Authenticator;
}

/** Team mode: people of a company, who log in with its identity provider. */
export class TeamAdmission implements Admission {
  readonly #parts: TeamParts;
  readonly #browser: BrowserLogin;
  readonly #open: Readonly<Record<string, (request: Request, response: Response) => Promise<void>>>;
  readonly endpoints: Admission["endpoints"] = {};

  constructor(parts: TeamParts) {
    this.#parts = parts;
    this.#browser = new BrowserLogin(parts);
    this.#open = {
      "POST /auth/logout": (request, response) => this.#logout(request, response),
      [`POST ${BOOTSTRAP}`]: (request, response) => this.#bootstrap(request, response),
      ...commandLogin(parts),
    };
  }

  /** Exactly the public one; whoever runs the server reaches what is theirs on the machine itself too. */
  checkHost(request: Request): void {
    const host = hostOf(request)?.toLowerCase();
    if (host === this.#parts.publicUrl.host) return;
    if (isLoopbackHostHeader(host) && OPERATORS.has(pathOf(request))) return;
    throw new HlvmError({
      code: "permission_denied",
      reason: "host_refused",
      message: "The request is addressed to another name than this server's.",
      advice: `Call ${this.#parts.publicUrl.origin}.`,
    });
  }

  async answer(request: Request, response: Response): Promise<boolean> {
    const path = pathOf(request);
    const isLogin = request.method === "GET" && (path === "/auth/login" || path === "/auth/cli");
    if (isLogin || (request.method === "GET" && path === "/auth/callback")) {
      try {
        await (isLogin ? this.#browser.begin(request, response) : this.#browser.finish(request, response));
      } catch (thrown) {
        if (response.headersSent) throw thrown;
        const error = fromConnectError(thrown);
        this.#parts.log.info({ code: error.code, reason: error.reason, path }, "a login did not go on");
        sendNotice(response, error);
      }
      return true;
    }
    const open = this.#open[`${request.method} ${path}`];
    await open?.(request, response);
    return open !== undefined;
  }

  async admit(request: Request): Promise<Admitted> {
    const { authenticator, logins, operator } = this.#parts;
    const { authorization } = request.headers;
    const isOperators = OPERATORS.has(pathOf(request)) && pathOf(request) !== BOOTSTRAP;
    if (isOperators) return { caller: await operator.authenticate(authorization), check: () => operator.authenticate(authorization) };
    if (authorization !== undefined) {
      const check = () => authenticator.authenticate(authorization);
      return { caller: await check(), check };
    }
    const secret = cookieOf(request, SESSION_COOKIE);
    // The endpoints of models and chat are for programs, and for them a cookie is none.
    if (secret === undefined || !pathOf(request).startsWith("/hlvm.")) throw loginNeeded();
    this.#demandOwnPage(request, CONNECT_TYPES);
    const check = () => logins.byCookie(secret);
    return { caller: await check(), check };
  }

  /** A browser says itself from where a request comes; only our own page may use its cookie. @throws HlvmError `origin_refused` */
  #demandOwnPage({ method, headers }: Request, types: RegExp): void {
    const site = headers["sec-fetch-site"];
    const isOurs = site === undefined ? headers.origin === this.#parts.publicUrl.origin : site === "same-origin";
    if (isOurs && method === "POST" && types.test(headers["content-type"] ?? "")) return;
    throw new HlvmError({
      code: "permission_denied",
      reason: "origin_refused",
      message: "Only the page itself may use its login.",
      advice: "Send a token: `Authorization: Bearer …`.",
    });
  }

  async #logout(request: Request, response: Response): Promise<void> {
    this.#demandOwnPage(request, /^application\/json\b/);
    await this.#browser.end(request, response);
  }

  /** The first administrator is named by who runs the server, since there is nobody yet who could give a role. */
  async #bootstrap(request: Request, response: Response): Promise<void> {
    const { operator, logins, organization } = this.#parts;
    await operator.authenticate(request.headers.authorization);
    const asked = fromJson(BootstrapAdministratorRequestSchema, { ...(await jsonOf(request)), organization });
    const { principal } = await logins.ask((client, options) => client.bootstrapAdministrator(asked, options));
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify({ principal }));
  }
}

/** For who comes with no token that team mode knows. */
export class NobodyElse implements Authenticator {
  authenticate(): Promise<never> {
    return Promise.reject(loginNeeded());
  }
}

function pathOf({ url }: Request): string {
  return url?.split("?", 1)[0] ?? "";
}

function loginNeeded(): HlvmError {
  return new HlvmError({
    code: "unauthenticated",
    reason: "login_needed",
    message: "The request carries no login.",
    advice: "Open the page to log in, run `hlvm login URL`, or send a token: `Authorization: Bearer …`.",
  });
}

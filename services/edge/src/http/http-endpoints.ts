import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { Log } from "@hlvm/log/create-log";
import { TracedCall } from "@hlvm/telemetry/traced-call";
import type { Runs } from "../domain/chat.ts";
import type { Authenticator, Caller } from "../domain/authenticator.ts";
import { demandScope } from "../domain/demand-scope.ts";
import type { PageLogins } from "../domain/page-logins.ts";
import { chat } from "./chat.ts";
import { isLoopbackHostHeader } from "./loopback-host.ts";
import type { PageFiles } from "./page-files.ts";
import { setPageHeaders } from "./page-headers.ts";
import { sendSecret, swapCode } from "./page-login.ts";
import type { Request } from "./read-body.ts";
import { sendError, type Response } from "./send-error.ts";

export interface HttpEndpointsOptions {
  readonly authenticator: Authenticator;
  /** Told who sends a request, before anything else reads it. */
  readonly onAuthenticated: (request: Request, caller: Caller) => void;
  readonly runsOf: (principal: Principal) => Runs;
  readonly files: PageFiles;
  readonly logins: PageLogins;
  readonly log: Log;
}

type Endpoint = (request: Request, response: Response, caller: Caller) => Promise<void> | void;

/**
 * Every request passes here first: it is refused unless it is meant for this machine and the authenticator knows who
 * sends it. The page's files and the swap of its code are all that is there for anybody. Then the plain HTTP endpoints answer;
 * what is for none of them is left to Connect.
 * @returns what `startRpcServer` calls before everything else
 */
export function httpEndpoints({
  authenticator,
  onAuthenticated,
  runsOf,
  files,
  logins,
  log,
}: HttpEndpointsOptions): (request: Request, response: Response) => Promise<boolean> {
  const endpoints: Readonly<Record<string, Endpoint>> = {
    "GET /healthz": (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"status":"serving"}');
    },
    "POST /auth/code": (_, response, caller) => sendSecret(response, { code: logins.issueCode(caller) }),
    "POST /api/chat": (request, response, caller) => {
      demandScope(caller, ["run"], "/api/chat");
      const call = TracedCall.answered("POST /api/chat", header(request.headers.traceparent));
      return traced(call, () => chat(request, response, runsOf, caller.principal));
    },
  };
  return async (request, response) => {
    try {
      setPageHeaders(response);
      checkHost(request);
      if (files.answer(request, response)) return true;
      const called = `${request.method} ${request.url?.split("?", 1)[0]}`;
      if (called === "POST /auth/token") {
        await swapCode(request, response, logins);
        return true;
      }
      const caller = await authenticator.authenticate(request.headers.authorization);
      onAuthenticated(request, caller);
      const endpoint = endpoints[called];
      await endpoint?.(request, response, caller);
      return endpoint !== undefined;
    } catch (cause) {
      answerWith(cause, request, response, log);
      return true;
    }
  };
}

async function traced(call: TracedCall, answer: () => Promise<void>): Promise<void> {
  try {
    await call.run(answer);
  } catch (thrown) {
    call.end(thrown);
    throw thrown;
  } finally {
    call.end();
  }
}

function header(value: string | string[] | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function checkHost(request: Request): void {
  const host = request.headers[":authority"] ?? request.headers.host;
  if (isLoopbackHostHeader(typeof host === "string" ? host : undefined)) return;
  throw new HlvmError({
    code: "permission_denied",
    reason: "host_refused",
    message: "The request is addressed to a name that is not this machine's own.",
    advice: "Call 127.0.0.1 or localhost: local mode serves this machine only.",
  });
}

function answerWith(cause: unknown, request: Request, response: Response, log: Log): void {
  const error = cause instanceof HlvmError ? cause : unexpected(cause);
  if (error.code === "internal") log.error({ err: cause, path: request.url }, "a request failed");
  else log.info({ code: error.code, reason: error.reason, path: request.url }, "a request was refused");
  if (response.headersSent) response.destroy();
  else if (!response.destroyed) sendError(response, error);
  // What was not read of a refused body must not be taken for the next request.
  request.resume();
}

function unexpected(cause: unknown): HlvmError {
  return new HlvmError({
    code: "internal",
    reason: "internal",
    message: "Something went wrong inside the edge.",
    advice: "logs/edge.log in the HLVM directory says what.",
    cause,
  });
}

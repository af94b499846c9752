import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { Log } from "@hlvm/log/create-log";
import { TracedCall } from "@hlvm/telemetry/traced-call";
import type { Runs } from "../domain/chat.ts";
import type { Caller } from "../domain/authenticator.ts";
import { demandRole } from "../domain/demand-role.ts";
import { demandScope } from "../domain/demand-scope.ts";
import { chat } from "./chat.ts";
import type { Admitted, Admission } from "./admission.ts";
import type { ModelCalls } from "../domain/model-calls.ts";
import { answerModelDoor, isModelDoor, refuseAtModelDoor, takeApiKey } from "./model-doors/model-doors.ts";
import type { PageFiles } from "./page-files.ts";
import { setPageHeaders } from "./page-headers.ts";
import type { Request } from "./read-body.ts";
import { sendError, type Response } from "./send-error.ts";

export interface HttpEndpointsOptions {
  readonly admission: Admission;
  /** Told who sends a request, before anything else reads it. */
  readonly onAdmitted: (request: Request, admitted: Admitted) => void;
  readonly runsOf: (principal: Principal) => Runs;
  readonly modelCalls: ModelCalls;
  readonly files: PageFiles;
  readonly log: Log;
}

type Endpoint = (request: Request, response: Response, caller: Caller) => Promise<void> | void;

/**
 * Every request passes here first: it is refused unless it is addressed to us and admission knows who sends it. The page's files
 * and what a login takes are all that is there for anybody. Then the plain HTTP endpoints answer; what is for none of them is
 * left to Connect.
 * @returns what `startRpcServer` calls before everything else
 */
export function httpEndpoints({
  admission,
  onAdmitted,
  runsOf,
  modelCalls,
  files,
  log,
}: HttpEndpointsOptions): (request: Request, response: Response) => Promise<boolean> {
  const endpoints: Readonly<Record<string, Endpoint>> = {
    "GET /healthz": (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"status":"serving"}');
    },
    ...admission.endpoints,
    "POST /api/chat": (request, response, caller) => {
      demandScope(caller, ["run"], "/api/chat");
      demandRole(caller, ["developer", "admin"], "/api/chat");
      const call = TracedCall.answered("POST /api/chat", header(request.headers.traceparent));
      return traced(call, () => chat(request, response, runsOf, caller.principal));
    },
  };
  return async (request, response) => {
    try {
      setPageHeaders(response);
      admission.checkHost(request);
      if (isModelDoor(request)) takeApiKey(request);
      if (files.answer(request, response) || (await admission.answer(request, response))) return true;
      const admitted = await admission.admit(request);
      onAdmitted(request, admitted);
      if (isModelDoor(request)) {
        await answerModelDoor(request, response, admitted, { calls: modelCalls, log });
        return true;
      }
      const endpoint = endpoints[`${request.method} ${request.url?.split("?", 1)[0]}`];
      await endpoint?.(request, response, admitted.caller);
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

function answerWith(cause: unknown, request: Request, response: Response, log: Log): void {
  const error = cause instanceof HlvmError ? cause : unexpected(cause);
  if (error.code === "internal") log.error({ err: cause, path: pathOf(request) }, "a request failed");
  else log.info({ code: error.code, reason: error.reason, path: pathOf(request) }, "a request was refused");
  if (response.headersSent) response.destroy();
  else if (!response.destroyed) (isModelDoor(request) ? refuseAtModelDoor : sendRefusal)(request, response, error);
  // What was not read of a refused body must not be taken for the next request.
  request.resume();
}

function sendRefusal(_: Request, response: Response, error: HlvmError): void {
  sendError(response, error);
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

/** Without what follows: a code or a state in it is nobody's business. */
function pathOf({ url }: Request): string | undefined {
  return url?.split("?", 1)[0];
}

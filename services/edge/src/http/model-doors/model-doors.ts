import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { TracedCall } from "@hlvm/telemetry/traced-call";
import type { Caller } from "../../domain/authenticator.ts";
import { demandRole } from "../../domain/demand-role.ts";
import { demandScope } from "../../domain/demand-scope.ts";
import type { Admitted } from "../admission.ts";
import type { Request } from "../read-body.ts";
import type { Response } from "../send-error.ts";
import { answerDoor, callOf, goneSignal, readFields, sendJson, type DoorParts, type DoorSpec } from "./answer-door.ts";
import { doorError, type Protocol } from "./door-error.ts";
import { answerEmbeddings } from "./embeddings.ts";
import { answerModel, answerModels } from "./models.ts";
import { readChat } from "./read-chat.ts";
import { readCount, readMessages } from "./read-messages.ts";
import { readResponses } from "./read-responses.ts";

type Answer = (request: Request, response: Response, caller: Caller, parts: DoorParts) => Promise<void>;

const CHAT: DoorSpec = { door: ModelDoor.CHAT_COMPLETIONS, protocol: "openai", read: readChat, failure: (error) => [{ data: error }] };
const RESPONSES: DoorSpec = { door: ModelDoor.RESPONSES, protocol: "openai", read: readResponses };
const MESSAGES: DoorSpec = {
  door: ModelDoor.MESSAGES,
  protocol: "anthropic",
  read: readMessages,
  failure: (error) => [{ event: "error", data: error }],
};

const DOORS: Readonly<Record<string, Answer>> = {
  "POST /v1/chat/completions": (...call) => answerDoor(CHAT, ...call),
  "POST /v1/responses": (...call) => answerDoor(RESPONSES, ...call),
  "POST /v1/embeddings": answerEmbeddings,
  "POST /v1/messages": (...call) => answerDoor(MESSAGES, ...call),
  "POST /v1/messages/count_tokens": answerCount,
  "GET /v1/models": (request, ...rest) => answerModels(protocolOf(request), ...rest),
};

/** All that stands below it is for programs that speak the protocols of others. */
const PREFIX = "/v1/";
/** So long an answer outlives the key that it was asked for with. */
const RECHECK_MILLISECONDS = 5_000;
const ONE_MODEL = "GET /v1/models/";

/** Whether a request is for a model door. */
export function isModelDoor(request: Request): boolean {
  return pathOf(request).startsWith(PREFIX);
}

/** Anthropic's clients send their key in a header of its own. */
export function takeApiKey({ headers }: Request): void {
  const key = headers["x-api-key"];
  if (headers.authorization === undefined && typeof key === "string") headers.authorization = `Bearer ${key}`;
}

/** @throws HlvmError */
export async function answerModelDoor(request: Request, response: Response, admitted: Admitted, parts: DoorParts): Promise<void> {
  const { caller } = admitted;
  const path = pathOf(request);
  demandScope(caller, ["model", "run"], path);
  demandRole(caller, ["developer", "admin"], path);
  const name = `${request.method} ${path}`;
  const answer = name.startsWith(ONE_MODEL) ? answerOneModel : DOORS[name];
  if (answer === undefined) throw noSuchDoor(name);
  const { traceparent } = request.headers;
  const call = TracedCall.answered(answer === answerOneModel ? ONE_MODEL : name, typeof traceparent === "string" ? traceparent : null);
  const watch = watchKey(admitted, response, parts);
  try {
    await call.run(() => answer(request, response, caller, parts));
  } catch (thrown) {
    call.end(thrown);
    throw thrown;
  } finally {
    clearInterval(watch);
    call.end();
  }
}

/** An answer that takes long is cut where its key is not good any more. */
function watchKey({ check }: Admitted, response: Response, { log }: DoorParts): NodeJS.Timeout {
  const recheck = async (): Promise<void> => {
    try {
      await check();
    } catch (cause) {
      if (!(cause instanceof HlvmError) || cause.code !== "unauthenticated") return;
      log.info({ reason: cause.reason }, "a model's answer was cut, since its key is not good any more");
      response.destroy();
    }
  };
  return setInterval(() => void recheck(), RECHECK_MILLISECONDS).unref();
}

/** In the words of the protocol that the request came in. */
export function refuseAtModelDoor(request: Request, response: Response, error: HlvmError): void {
  const { status, headers, body } = doorError(protocolOf(request), error);
  sendJson(response, body, status, headers);
}

const answerOneModel: Answer = (request, ...rest) => answerModel(protocolOf(request), request, ...rest);

async function answerCount(request: Request, response: Response, caller: Caller, { calls }: DoorParts): Promise<void> {
  const gone = goneSignal(response);
  const asked = await readFields(request, readCount);
  const call = callOf({ door: ModelDoor.COUNT_TOKENS, protocol: "anthropic" }, caller);
  sendJson(response, { input_tokens: await calls.countTokens(call, asked, gone) });
}

/** Models are listed for both at one path. */
function protocolOf(request: Request): Protocol {
  return pathOf(request).startsWith("/v1/messages") || request.headers["anthropic-version"] !== undefined ? "anthropic" : "openai";
}

function noSuchDoor(name: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "no_such_door",
    message: `There is no ${name.slice(0, 200)} here.`,
    advice: `There are ${Object.keys(DOORS).join(", ")}.`,
  });
}

function pathOf({ url }: Request): string {
  return url?.split("?", 1)[0] ?? "";
}

import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import type { Caller } from "../../domain/authenticator.ts";
import { demandRole } from "../../domain/demand-role.ts";
import { demandScope } from "../../domain/demand-scope.ts";
import type { Request } from "../read-body.ts";
import type { Response } from "../send-error.ts";
import { answerDoor, sendDoorError, type DoorParts, type DoorSpec } from "./answer-door.ts";
import { readChat } from "./read-chat.ts";
import type { Protocol } from "./door-error.ts";

type Answer = (request: Request, response: Response, caller: Caller, parts: DoorParts) => Promise<void>;

const CHAT: DoorSpec = {
  door: ModelDoor.CHAT_COMPLETIONS,
  protocol: "openai",
  read: readChat,
  failure: (error) => [{ data: error }],
};

const DOORS: Readonly<Record<string, Answer>> = {
  "POST /v1/chat/completions": (...call) => answerDoor(CHAT, ...call),
};

/** All that stands below it is for programs that know the protocols of others. */
const PREFIX = "/v1/";

/** Whether a request is for a model door. */
export function isModelDoor(request: Request): boolean {
  return pathOf(request).startsWith(PREFIX);
}

/** Which protocol the one who asks speaks: models are listed for both at one path. */
export function protocolOf(request: Request): Protocol {
  return pathOf(request).startsWith("/v1/messages") || request.headers["anthropic-version"] !== undefined ? "anthropic" : "openai";
}

/** Anthropic's clients send their key in a header of its own. */
export function takeApiKey({ headers }: Request): void {
  const key = headers["x-api-key"];
  if (headers.authorization === undefined && typeof key === "string") headers.authorization = `Bearer ${key}`;
}

/** @throws HlvmError */
export async function answerModelDoor(request: Request, response: Response, caller: Caller, parts: DoorParts): Promise<void> {
  const path = pathOf(request);
  demandScope(caller, ["model", "run"], path);
  demandRole(caller, ["developer", "admin"], path);
  const answer = DOORS[`${request.method} ${path}`];
  if (answer === undefined)
    throw new HlvmError({
      code: "not_found",
      reason: "no_such_door",
      message: `There is no ${request.method} ${path} here.`,
      advice: `There are ${Object.keys(DOORS).join(", ")}.`,
    });
  await answer(request, response, caller, parts);
}

export function refuseAtModelDoor(request: Request, response: Response, error: HlvmError): void {
  sendDoorError(protocolOf(request), response, error);
}

function pathOf({ url }: Request): string {
  return url?.split("?", 1)[0] ?? "";
}

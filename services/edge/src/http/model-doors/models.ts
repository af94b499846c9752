import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Caller } from "../../domain/authenticator.ts";
import type { Request } from "../read-body.ts";
import type { Response } from "../send-error.ts";
import { goneSignal, sendJson, type DoorParts } from "./answer-door.ts";
import type { Protocol } from "./door-error.ts";

/** Nobody tells when a model was made, and clients want a time. */
const UNTOLD = new Date(0);

/** `/v1/models`: those that can be used now, and that the token is for. */
export async function answerModels(protocol: Protocol, response: Response, caller: Caller, { calls }: DoorParts): Promise<void> {
  const data = (await calls.list(caller, goneSignal(response))).map((model) => described(protocol, model));
  if (protocol === "openai") return sendJson(response, { object: "list", data });
  sendJson(response, { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null });
}

/** `/v1/models/ID`, whose slash may be written as %2F. */
export async function answerModel(
  protocol: Protocol,
  request: Request,
  response: Response,
  caller: Caller,
  parts: DoorParts,
): Promise<void> {
  const id = nameIn(request.url ?? "");
  const model = (await parts.calls.list(caller, goneSignal(response))).find((each) => each.id === id);
  if (model !== undefined) return sendJson(response, described(protocol, model));
  throw new HlvmError({
    code: "not_found",
    reason: "model_not_found",
    message: `There is no model ${JSON.stringify(id.slice(0, 256))} for you.`,
    advice: "GET /v1/models lists those that there are.",
  });
}

function nameIn(url: string): string {
  const path = url.split("?", 1)[0]!.replace("/v1/models/", "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function described(protocol: Protocol, { id, provider, contextWindow }: Model): { readonly id: string } {
  if (protocol === "openai")
    return { id, object: "model", created: 0, owned_by: provider, context_window: contextWindow } as { id: string };
  return { type: "model", id, display_name: id, created_at: UNTOLD.toISOString() } as { id: string };
}

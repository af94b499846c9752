import { randomUUID } from "node:crypto";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import type { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import type { Caller } from "../../domain/authenticator.ts";
import { readBody, type Request } from "../read-body.ts";
import type { Response } from "../send-error.ts";
import type { AnswerWriter, ReadRequest, StreamPiece } from "./door.ts";
import { doorError, type Protocol } from "./door-error.ts";
import { EventStream } from "./event-stream.ts";
import { FieldError, Fields } from "./fields.ts";
import type { DoorCall, ModelCalls } from "../../domain/model-calls.ts";

/** Images and documents stand in it, and what it becomes has to fit into one message of the mesh. */
export const LARGEST_BODY_BYTES = 16 * 1024 * 1024;

export interface DoorSpec {
  readonly door: ModelDoor;
  readonly protocol: Protocol;
  readonly read: (body: Fields) => ReadRequest;
  /** How a stream says that it fails; left out where its writer knows. */
  readonly failure?: (error: object) => readonly StreamPiece[];
}

export interface DoorParts {
  readonly calls: ModelCalls;
  readonly log: Log;
}

/**
 * Answers one model call, as a stream or whole. What fails before anything was said has a status of its own; what fails after it
 * is said in the stream.
 */
export async function answerDoor(
  spec: DoorSpec,
  request: Request,
  response: Response,
  caller: Caller,
  { calls, log }: DoorParts,
): Promise<void> {
  const gone = goneSignal(response);
  const { request: asked, isStream, writer } = await readFields(request, spec.read);
  const call = callOf(spec, caller);
  const started = await calls.generate(call, asked, gone);
  const { model, inputTokens } = started;
  const answer = writer({ id: call.callId.replaceAll("-", ""), model, inputTokens, created: Math.floor(Date.now() / 1_000) });
  if (!isStream) {
    answer.begin();
    for await (const event of started.events) answer.write(event);
    return sendJson(response, answer.whole());
  }
  const stream = new EventStream(response, gone);
  try {
    let pieces = answer.begin();
    for await (const event of started.events) {
      pieces.push(...answer.write(event));
      await stream.send(pieces);
      pieces = [];
    }
    stream.end();
  } catch (thrown) {
    if (!stream.isOpen || gone.aborted) throw thrown;
    const error = fromConnectError(thrown);
    log.info({ code: error.code, reason: error.reason }, "a model's answer failed in its stream");
    await stream.send(failure(spec, answer, doorError(spec.protocol, error).body)).catch(() => undefined);
    stream.end();
  }
}

function failure({ failure: tell }: DoorSpec, answer: AnswerWriter, error: object): readonly StreamPiece[] {
  return tell?.(error) ?? answer.fail?.(error) ?? [];
}

export function callOf({ door, protocol }: Pick<DoorSpec, "door" | "protocol">, caller: Caller): DoorCall {
  return { caller, door, provider: protocol, callId: randomUUID() };
}

/** Aborted when whoever asked has gone. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
}

/** @throws HlvmError */
export async function readFields<T>(request: Request, read: (body: Fields) => T): Promise<T> {
  return readHostile(await readBody(request, LARGEST_BODY_BYTES), read);
}

/** @throws HlvmError and nothing else, whatever the text is */
export function readHostile<T>(body: string, read: (body: Fields) => T): T {
  try {
    return read(Fields.parse(body));
  } catch (thrown) {
    if (thrown instanceof HlvmError || !(thrown instanceof RangeError)) throw thrown;
    throw new FieldError("body", "is nested too deeply");
  }
}

export function sendJson(response: Response, value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "cache-control": "no-store",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

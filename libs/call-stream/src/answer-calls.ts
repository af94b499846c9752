import { create, type DescMessage, type DescMethod, type Message } from "@bufbuild/protobuf";
import { violationsToProto, type Validator } from "@bufbuild/protovalidate";
import { Code, ConnectError, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DrainingSchema, StatusSchema, type CallHead, type Cancel, type Draining, type Status } from "@hlvm/proto/hlvm/call/v1/call_pb";
import { callerKey, callerOf } from "@hlvm/rpc/call-context";
import { toStatus } from "./call-status.ts";
import { LONGEST_TIMER_MILLISECONDS } from "./open-stream.ts";
import { joined } from "./joined.ts";
import { MessageQueue } from "./message-queue.ts";
import { streamServer } from "@hlvm/rpc/stream-server";
import { TracedCall } from "@hlvm/telemetry/traced-call";
import { translateError } from "@hlvm/rpc/translate-error";

/** Of one stream, at a time. */
const MAXIMUM_CALLS = 256;
const MAXIMUM_UNSENT = 64;
/** One for all: an error costs as much as the rest of a call's end. */
const FINISHED = new DOMException("The call has been answered.", "AbortError");
/** What a call's signal is aborted with when its caller is gone without having cancelled it, or says that it comes back. */
const CALLER_LOST = new HlvmError({ code: "cancelled", reason: "caller_lost", message: "The caller's connection is gone." });

interface Case {
  readonly case: string | undefined;
  readonly value?: unknown;
}

type Answered<Response> = {
  id: number;
  response?: Response | { case: "error"; value: Status } | { case: "draining"; value: Draining };
  takesMore?: boolean;
};

interface Asked<Request> {
  readonly head?: CallHead;
  readonly request: Request;
  /** Asked at the same time. */
  readonly more?: readonly Asked<Request>[];
}

export interface CallMethods<Request, Response> {
  readonly answer: (request: Request, context: HandlerContext) => AsyncIterable<Response>;
  /** Whether a response is its call's last: nothing has to be said of the end then. */
  readonly isLast: (response: Response) => boolean;
  /** Whether its contract lets requests, and responses, that come at the same time go in one message. */
  readonly joins?: boolean;
}

/**
 * Answers the calls of one stream side by side. Each is checked as if it had a stream of its own: its token, its request, its
 * deadline; what it throws is its own error. A server that is draining finishes those under way and ends the stream. A call
 * whose caller is gone has its signal aborted with `caller_lost`, so that a handler may bring it to its end nevertheless.
 */
export async function* answerCalls<Request extends Case, Response extends Case>(
  requests: AsyncIterable<Asked<Request>>,
  context: HandlerContext,
  { answer, isLast, joins = false }: CallMethods<Request, Response>,
): AsyncGenerator<Answered<Response>, void> {
  const { verifier, validator, log, draining } = streamServer(context);
  const out = new MessageQueue<Answered<Response>>(MAXIMUM_UNSENT);
  const running = new Map<number, AbortController>();
  const method = `${context.service.typeName}/${context.method.name}`;
  let token = context.requestHeader.get("authorization")?.replace(/^Bearer /, "") ?? "";
  let lastId = 0;
  let isOver = false;
  let takesMore = false;

  const isEnd = ({ response }: Answered<Response>): boolean =>
    response === undefined || response.case === "error" || response.case === "draining" || isLast(response as Response);
  const endWhenDone = (): void => {
    if (isOver && running.size === 0) out.end();
  };
  const drain = (): void => {
    isOver = true;
    void out.push({ id: 0, response: { case: "draining", value: create(DrainingSchema, { lastId }) } });
    endWhenDone();
  };

  function run(head: CallHead, request: Request): Promise<void> {
    const traced = TracedCall.answered(`${method}.${request.case}`, head.traceparent || context.requestHeader.get("traceparent"));
    return traced.run(() => answerOne(head, request, traced));
  }

  async function answerOne({ id, timeoutMilliseconds }: CallHead, request: Request, traced: TracedCall): Promise<void> {
    log.debug({ method, request: request.case }, "call");
    const ending = new AbortController();
    running.set(id, ending);
    const endsAt = timeoutMilliseconds > 0 ? performance.now() + timeoutMilliseconds : undefined;
    let isAnswered = false;
    const fail = (thrown: unknown): Promise<void> | undefined => {
      if (isAnswered) return undefined;
      isAnswered = true;
      const error = translateError(log, thrown, method);
      traced.end(error);
      const value = create(StatusSchema, toStatus(error));
      return out.push({ id, response: { case: "error", value } });
    };
    const expire = (): void => {
      const expired = new ConnectError("the operation timed out", Code.DeadlineExceeded);
      void fail(expired);
      ending.abort(expired);
    };
    const timer = timeoutMilliseconds > 0 ? setTimeout(expire, Math.min(timeoutMilliseconds, LONGEST_TIMER_MILLISECONDS)) : undefined;
    try {
      const values = createContextValues().set(callerKey, callerOf(verifier.verify(token)));
      validateRequest(validator, context.method, request);
      const timeoutMs = (): number | undefined => (endsAt === undefined ? undefined : endsAt - performance.now());
      const responses = answer(request, { ...context, values, signal: ending.signal, timeoutMs });
      for await (const response of responses) {
        if (isAnswered) return;
        isAnswered = isLast(response);
        const room = out.push({ id, response });
        if (room !== undefined) await room;
      }
      if (!isAnswered) await out.push({ id });
    } catch (thrown) {
      await fail(thrown);
    } finally {
      traced.end();
      clearTimeout(timer);
      running.delete(id);
      ending.abort(FINISHED);
      endWhenDone();
    }
  }

  function take({ head, request }: Asked<Request>): void {
    if (request.case === "cancel") running.get(head!.id)?.abort((request.value as Cancel).comesBack ? CALLER_LOST : undefined);
    if (request.case === "cancel" || isOver) return;
    if (head!.token !== "") token = head!.token;
    takesMore ||= head!.takesMore;
    if (running.size >= MAXIMUM_CALLS || running.has(head!.id))
      throw new ConnectError("The stream has too many calls, or two of one number.", Code.ResourceExhausted);
    lastId = head!.id;
    void run(head!, request);
  }

  async function read(): Promise<void> {
    for await (const asked of requests) {
      take(asked);
      if (joins) asked.more?.forEach(take);
    }
    isOver = true;
    endWhenDone();
  }

  const leave = (): void => out.end();
  context.signal.addEventListener("abort", leave);
  draining.addEventListener("abort", drain);
  if (draining.aborted) drain();
  read().catch((thrown: unknown) => out.fail(thrown));
  let hasSaidSo = !joins;
  try {
    for await (const first of out) {
      if (!hasSaidSo) first.takesMore = true;
      hasSaidSo = true;
      yield joins && takesMore ? await joined(first, out, isEnd) : first;
    }
  } finally {
    context.signal.removeEventListener("abort", leave);
    draining.removeEventListener("abort", drain);
    for (const ending of running.values()) ending.abort(CALLER_LOST);
  }
}

/** @throws ConnectError InvalidArgument with the violations, as an interceptor does for a call that comes alone */
function validateRequest(validator: Validator, method: DescMethod, request: Case): void {
  const schema = method.input.fields.find((field) => field.localName === request.case)?.message as DescMessage;
  const result = validator.validate(schema, request.value as Message);
  if (result.kind === "valid") return;
  const violations = result.violations === undefined ? [] : [violationsToProto(result.violations)];
  const details = violations.map(([value, desc]) => ({ desc, value }));
  throw new ConnectError(result.error.message, Code.InvalidArgument, undefined, details, result.error);
}

import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { outsideTrace } from "@hlvm/telemetry/trace-context";
import type { CallHeadSchema, Draining, Status } from "@hlvm/proto/hlvm/call/v1/call_pb";
import { fromStatus } from "./call-status.ts";
import { isNeverStarted } from "@hlvm/transport/connection-failure";
import { MessageQueue } from "./message-queue.ts";
import { pauseBeforeAttempt } from "@hlvm/transport/retry-interceptor";
import { TracedCall } from "@hlvm/telemetry/traced-call";

const MAXIMUM_UNREAD = 64;
const MAXIMUM_UNSENT = 1_024;
const IDLE_MILLISECONDS = 10_000;
/** Then the next call opens another stream, maybe to another replica. */
const MAXIMUM_AGE_MILLISECONDS = 60_000;
/** For the service to end its side after ours. */
const CLOSE_MILLISECONDS = 5_000;
/** A timer that is set for longer goes off at once. */
export const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

interface Case {
  readonly case: string | undefined;
  readonly value?: unknown;
}

export interface StreamedRequest<Request> {
  head: MessageInitShape<typeof CallHeadSchema>;
  request: Request | { case: "cancel"; value: object };
}

export interface CallLimits {
  readonly token: string;
  readonly timeoutMilliseconds: number;
  readonly signal?: AbortSignal;
}

interface TracedLimits extends CallLimits {
  readonly traceparent: string;
}

/** Opens the stream. @param token as it stands in the first call */
type Open<Request, Response> = (
  requests: AsyncIterable<StreamedRequest<Request>>,
  token: string,
  signal: AbortSignal,
) => AsyncIterable<Responded<Response>>;

interface Responded<Response> {
  readonly id: number;
  readonly response: Response;
  /** What came at the same time; a service's responses have none where it was never asked for them. */
  readonly more?: readonly { readonly id: number; readonly response: Response }[];
}

/**
 * The caller's side of a method that answers calls on a stream. The stream is opened by the first call, closed when none was
 * made for 10 s, and opened anew by calls that come when it is older than a minute or its service is draining. A call that
 * the service had not begun when it said so, or for which nobody took the connection, is made again until its deadline.
 */
export class CallStream<Request extends Case, Response extends Case> {
  readonly #method: string;
  readonly #open: Open<Request, Response>;
  #stream: OpenStream<Request, Response> | undefined;

  constructor({ parent, name }: DescMethod, open: Open<Request, Response>) {
    this.#method = `${parent.typeName}/${name}`;
    this.#open = open;
  }

  /** No call will follow: the stream ends when those under way have. */
  close(): void {
    this.#stream?.closeWhenDone();
  }

  /** The response to a call that has one. @throws ConnectError */
  async ask(request: Request, limits: CallLimits): Promise<Response> {
    for await (const response of this.call(request, limits, () => true)) return response;
    throw new ConnectError("The service ended the call without a response.", Code.Internal);
  }

  /** The responses to one call, up to and with the one that is its last where the service says it. Leaving the loop ends the call. @throws ConnectError */
  async *call(request: Request, limits: CallLimits, isLast: (response: Response) => boolean): AsyncGenerator<Response, void> {
    const traced = TracedCall.made(`${this.#method}.${request.case}`);
    try {
      yield* this.#attempt(request, { ...limits, traceparent: traced.traceparent }, isLast);
    } catch (thrown) {
      traced.end(thrown);
      throw thrown;
    } finally {
      traced.end();
    }
  }

  async *#attempt(request: Request, limits: TracedLimits, isLast: (response: Response) => boolean): AsyncGenerator<Response, void> {
    const endsAt = performance.now() + limits.timeoutMilliseconds;
    for (let attempt = 0; ; attempt++) {
      if (limits.signal?.aborted === true) throw ConnectError.from(limits.signal.reason, Code.Canceled);
      if (this.#stream?.isUsable !== true) this.#stream = new OpenStream(this.#open, limits.token);
      const call = this.#stream.begin(request, { ...limits, timeoutMilliseconds: Math.max(1, Math.ceil(endsAt - performance.now())) });
      try {
        for await (const response of call.responses) {
          call.isDone ||= isLast(response);
          yield response;
          if (isLast(response)) return;
        }
        if (call.isDone) return;
        if (!call.wasRefused || performance.now() >= endsAt)
          throw new ConnectError("connection lost: the service ended the stream", Code.Unavailable);
      } catch (thrown) {
        // What the service itself has said of the call is its end, whatever stands in it.
        if (call.isDone || !isNeverStarted(thrown) || performance.now() >= endsAt) throw thrown;
      } finally {
        call.end();
      }
      await pauseBeforeAttempt(attempt, limits.signal).catch(() => undefined);
    }
  }
}

interface StreamedCall<Response> {
  readonly responses: MessageQueue<Response>;
  isDone: boolean;
  wasRefused: boolean;
  readonly end: () => void;
}

class OpenStream<Request extends Case, Response extends Case> {
  readonly #requests = new MessageQueue<StreamedRequest<Request>>(MAXIMUM_UNSENT);
  readonly #calls = new Map<number, StreamedCall<Response>>();
  readonly #openedAt = performance.now();
  readonly #closing = new AbortController();
  #lastId = 0;
  #token: string;
  #isOver = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(open: Open<Request, Response>, token: string) {
    this.#token = token;
    // The stream outlives the call that opens it, and belongs to no trace.
    void outsideTrace(() => this.#read(open(this.#requests, token, this.#closing.signal)));
  }

  get isUsable(): boolean {
    return !this.#isOver && performance.now() - this.#openedAt < MAXIMUM_AGE_MILLISECONDS;
  }

  begin(request: Request, { token, timeoutMilliseconds, traceparent, signal }: TracedLimits): StreamedCall<Response> {
    clearTimeout(this.#idle);
    const id = ++this.#lastId;
    const responses = new MessageQueue<Response>(MAXIMUM_UNREAD);
    const cancel = (): void => responses.fail(ConnectError.from(signal!.reason, Code.Canceled));
    const expire = (): void => responses.fail(new ConnectError("the operation timed out", Code.DeadlineExceeded));
    const timer = setTimeout(expire, Math.min(timeoutMilliseconds, LONGEST_TIMER_MILLISECONDS));
    signal?.addEventListener("abort", cancel);
    const call: StreamedCall<Response> = {
      responses,
      isDone: false,
      wasRefused: false,
      end: () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if (this.#calls.delete(id) && !call.isDone) void this.#requests.push({ head: { id }, request: { case: "cancel", value: {} } });
        this.#rest();
      },
    };
    this.#calls.set(id, call);
    const changed = token === this.#token ? "" : token;
    this.#token = token;
    void this.#requests.push({ head: { id, token: changed, timeoutMilliseconds, traceparent, takesMore: true }, request });
    return call;
  }

  async #read(responses: AsyncIterable<Responded<Response>>): Promise<void> {
    let failure: unknown;
    try {
      for await (const { id, response, more = [] } of responses) {
        await this.#take(id, response);
        for (const each of more) await this.#take(each.id, each.response);
      }
    } catch (thrown) {
      failure = thrown;
    }
    this.#isOver = true;
    this.#requests.end();
    for (const { responses } of this.#calls.values()) {
      if (failure === undefined) responses.end();
      else responses.fail(ConnectError.from(failure));
    }
    this.#calls.clear();
  }

  async #take(id: number, response: Response): Promise<void> {
    if (response.case === "draining") return this.#drain((response.value as Draining).lastId);
    const call = this.#calls.get(id);
    if (call === undefined) return;
    if (response.case === "error") call.responses.fail(fromStatus(response.value as Status));
    if (response.case === undefined) call.responses.end();
    if (response.case !== "error" && response.case !== undefined) return call.responses.push(response);
    call.isDone = true;
  }

  closeWhenDone(): void {
    this.#isOver = true;
    this.#rest();
  }

  /** Calls after the last that the service has begun are made again elsewhere. */
  #drain(lastBegun: number): void {
    this.#isOver = true;
    for (const [id, call] of this.#calls) {
      if (id <= lastBegun) continue;
      this.#calls.delete(id);
      call.wasRefused = true;
      call.responses.end();
    }
    this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#calls.size > 0) return;
    if (!this.isUsable) this.#close();
    else this.#idle = setTimeout(() => this.#close(), IDLE_MILLISECONDS).unref();
  }

  #close(): void {
    this.#isOver = true;
    this.#requests.end();
    setTimeout(() => this.#closing.abort(), CLOSE_MILLISECONDS).unref();
  }
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { outsideTrace } from "@hlvm/telemetry/trace-context";
import type { CallHeadSchema, Draining, Status } from "@hlvm/proto/hlvm/call/v1/call_pb";
import { fromStatus } from "./call-status.ts";
import { joined } from "./joined.ts";
import { MessageQueue } from "./message-queue.ts";

const MAXIMUM_UNREAD = 64;
/** Of a call on a stream that others share: half a minute of an answer of a fast model. */
const MAXIMUM_UNREAD_SHARED = 4_096;
const MAXIMUM_UNSENT = 1_024;
const IDLE_MILLISECONDS = 10_000;
/** There are few of these, and whoever calls next does not wait for another one. */
const IDLE_SHARED_MILLISECONDS = 60_000;
/** Then the next call opens another stream, maybe to another replica. */
const MAXIMUM_AGE_MILLISECONDS = 60_000;
/** For the service to end its side after ours. */
const CLOSE_MILLISECONDS = 5_000;
/** A timer that is set for longer goes off at once. */
export const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

export interface Case {
  readonly case: string | undefined;
  readonly value?: unknown;
}

export interface StreamedRequest<Request> {
  head: MessageInitShape<typeof CallHeadSchema>;
  request: Request | { case: "cancel"; value: { comesBack?: boolean } };
  /** What was asked at the same time, of a service that takes it so. */
  more?: StreamedRequest<Request>[];
}

export interface CallLimits {
  readonly token: string;
  readonly timeoutMilliseconds: number;
  readonly signal?: AbortSignal;
}

export interface TracedLimits extends CallLimits {
  readonly traceparent: string;
}

/** Opens the stream. @param token as it stands in the first call */
export type Open<Request, Response> = (
  requests: AsyncIterable<StreamedRequest<Request>>,
  token: string,
  signal: AbortSignal,
) => AsyncIterable<Responded<Response>>;

interface Responded<Response> {
  readonly id: number;
  readonly response: Response;
  /** What came at the same time; a service's responses have none where it was never asked for them. */
  readonly more?: readonly { readonly id: number; readonly response: Response }[];
  readonly takesMore?: boolean;
}

export interface StreamedCall<Response> {
  readonly token: string;
  readonly responses: MessageQueue<Response>;
  isDone: boolean;
  wasRefused: boolean;
  readonly end: () => void;
}

/** One stream, from its first call to its end. */
export class OpenStream<Request extends Case, Response extends Case> {
  readonly #requests = new MessageQueue<StreamedRequest<Request>>(MAXIMUM_UNSENT);
  readonly #calls = new Map<number, StreamedCall<Response>>();
  readonly #openedAt = performance.now();
  readonly #closing = new AbortController();
  readonly #isShared: boolean;
  readonly #openedWith: string;
  #lastId = 0;
  #token: string;
  #hasAnswered = false;
  #takesMore = false;
  #isOver = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(open: Open<Request, Response>, token: string, isShared: boolean) {
    this.#token = token;
    this.#openedWith = token;
    this.#isShared = isShared;
    // The stream outlives the call that opens it, and belongs to no trace.
    void outsideTrace(() => this.#read(open(this.#joined(), token, this.#closing.signal)));
  }

  get isUsable(): boolean {
    return !this.#isOver && performance.now() - this.#openedAt < MAXIMUM_AGE_MILLISECONDS;
  }

  begin(request: Request, { token, timeoutMilliseconds, traceparent, signal }: TracedLimits): StreamedCall<Response> {
    clearTimeout(this.#idle);
    const id = ++this.#lastId;
    const responses = new MessageQueue<Response>(this.#isShared ? MAXIMUM_UNREAD_SHARED : MAXIMUM_UNREAD);
    const cancel = (): void => responses.fail(ConnectError.from(signal!.reason, Code.Canceled));
    const expire = (): void => responses.fail(new ConnectError("the operation timed out", Code.DeadlineExceeded));
    const timer = setTimeout(expire, Math.min(timeoutMilliseconds, LONGEST_TIMER_MILLISECONDS));
    signal?.addEventListener("abort", cancel);
    const call: StreamedCall<Response> = {
      token,
      responses,
      isDone: false,
      wasRefused: false,
      end: () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if (this.#calls.delete(id) && !call.isDone) this.#cancel(id, false);
        this.#rest();
      },
    };
    this.#calls.set(id, call);
    const changed = token === this.#token ? "" : token;
    this.#token = token;
    void this.#requests.push({ head: { id, token: changed, timeoutMilliseconds, traceparent, takesMore: true }, request });
    return call;
  }

  /** Other calls may be about to ask where some are under way; a call that is alone does not wait for any. */
  async *#joined(): AsyncGenerator<StreamedRequest<Request>, void> {
    for await (const first of this.#requests)
      yield this.#takesMore && this.#calls.size > 1 ? await joined(first, this.#requests, isCancel) : first;
  }

  async #read(responses: AsyncIterable<Responded<Response>>): Promise<void> {
    let failure: unknown;
    try {
      for await (const { id, response, more = [], takesMore = false } of responses) {
        this.#hasAnswered = true;
        this.#takesMore ||= takesMore;
        await this.#take(id, response);
        for (const each of more) await this.#take(each.id, each.response);
      }
    } catch (thrown) {
      failure = thrown;
    }
    this.#isOver = true;
    this.#requests.end();
    for (const call of this.#calls.values()) {
      call.wasRefused ||= failure !== undefined && this.#isOfAnother(call, failure);
      if (failure === undefined || call.wasRefused) call.responses.end();
      else call.responses.fail(this.#failureOfCall(ConnectError.from(failure)));
    }
    this.#calls.clear();
  }

  /** The stream was refused for the token that it was opened with: nothing of a call with another one has begun. */
  #isOfAnother({ token }: StreamedCall<Response>, failure: unknown): boolean {
    return !this.#hasAnswered && token !== this.#openedWith && ConnectError.from(failure).code === Code.Unauthenticated;
  }

  /** Of a shared stream that another call may have ended: its own failure a call gets as its response. */
  #failureOfCall(ofStream: ConnectError): ConnectError {
    if (!this.#isShared || !this.#hasAnswered || ofStream.code === Code.Unavailable) return ofStream;
    return new ConnectError(`connection lost: ${ofStream.rawMessage}`, Code.Unavailable, undefined, undefined, ofStream);
  }

  async #take(id: number, response: Response): Promise<void> {
    if (response.case === "draining") return this.#drain((response.value as Draining).lastId);
    const call = this.#calls.get(id);
    if (call === undefined) return;
    if (response.case === "error") call.responses.fail(fromStatus(response.value as Status));
    if (response.case === undefined) call.responses.end();
    if (response.case !== "error" && response.case !== undefined) return this.#give(id, call, response);
    call.isDone = true;
  }

  /** @returns when there is room for the next one; where others share the stream none of them waits for it */
  #give(id: number, call: StreamedCall<Response>, response: Response): Promise<void> | undefined {
    const isBehind = this.#isShared && call.responses.isFull;
    if (isBehind) call.responses.fail(new ConnectError("connection lost: the responses were not read in time", Code.Unavailable));
    if (isBehind && this.#calls.delete(id)) this.#cancel(id, true);
    const written = call.responses.push(response);
    return this.#isShared ? undefined : written;
  }

  #cancel(id: number, comesBack: boolean): void {
    void this.#requests.push({ head: { id }, request: { case: "cancel", value: { comesBack } } });
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
    else this.#idle = setTimeout(() => this.#close(), this.#isShared ? IDLE_SHARED_MILLISECONDS : IDLE_MILLISECONDS).unref();
  }

  #close(): void {
    this.#isOver = true;
    this.#requests.end();
    setTimeout(() => this.#closing.abort(), CLOSE_MILLISECONDS).unref();
  }
}

function isCancel({ request }: StreamedRequest<Case>): boolean {
  return request.case === "cancel";
}

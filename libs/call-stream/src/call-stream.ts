import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { isNeverStarted } from "@hlvm/transport/connection-failure";
import { pauseBeforeAttempt } from "@hlvm/transport/retry-interceptor";
import { TracedCall } from "@hlvm/telemetry/traced-call";
import { OpenStream, type CallLimits, type Case, type Open, type StreamedCall, type TracedLimits } from "./open-stream.ts";

/**
 * The caller's side of a method that answers calls on a stream. The stream is opened by the first call, closed when none was
 * made for 10 s (a minute, where others share it), and opened anew by calls that come when it is older than a minute or its service
 * is draining. A call that the service had not begun when it said so, or for which nobody took the connection, is made again until
 * its deadline.
 *
 * A reader that is slow holds up the other calls of its stream; not so where those who share it have nothing to do with each
 * other: a call whose reader is 4,096 responses behind fails there as if its connection was lost, and the service is told that
 * its caller comes back.
 */
export class CallStream<Request extends Case, Response extends Case> {
  readonly #method: string;
  readonly #open: Open<Request, Response>;
  readonly #isShared: boolean;
  #stream: OpenStream<Request, Response> | undefined;
  #underWay = 0;

  constructor({ parent, name }: DescMethod, open: Open<Request, Response>, { isShared = false } = {}) {
    this.#method = `${parent.typeName}/${name}`;
    this.#open = open;
    this.#isShared = isShared;
  }

  /** How many calls have begun and not ended. */
  get underWay(): number {
    return this.#underWay;
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
    const endsAt = performance.now() + limits.timeoutMilliseconds;
    this.#underWay++;
    try {
      for (let attempt = 0; ; attempt++) {
        const call = this.#begin(request, { ...limits, traceparent: traced.traceparent }, endsAt);
        try {
          for await (const response of call.responses) {
            const isEnd = isLast(response);
            call.isDone ||= isEnd;
            yield response;
            if (isEnd) return;
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
    } catch (thrown) {
      traced.end(thrown);
      throw thrown;
    } finally {
      this.#underWay--;
      traced.end();
    }
  }

  #begin(request: Request, limits: TracedLimits, endsAt: number): StreamedCall<Response> {
    if (limits.signal?.aborted === true) throw ConnectError.from(limits.signal.reason, Code.Canceled);
    if (this.#stream?.isUsable !== true) this.#stream = new OpenStream(this.#open, limits.token, this.#isShared);
    return this.#stream.begin(request, { ...limits, timeoutMilliseconds: Math.max(1, Math.ceil(endsAt - performance.now())) });
  }
}

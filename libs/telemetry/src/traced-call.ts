import { context, SpanKind, trace, type Context, type Span } from "@opentelemetry/api";
import { Code, ConnectError } from "@connectrpc/connect";
import { durationHistogram } from "@hlvm/telemetry/instrument";
import { failSpan, startSpan } from "@hlvm/telemetry/span";
import { contextOfTraceparent, traceparentOf } from "@hlvm/telemetry/trace-context";

const recordAnswered = durationHistogram("rpc.server.call.duration", "Calls answered, by method and how they ended.");
const OK = "ok";
/** Of a server's spans only these are failures: the others are how a caller is told of its own mistake, or went away. */
const SERVER_FAILURES: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

/** A call as a span, on either side, and on the one that answers in the metric of calls, too. */
export class TracedCall {
  readonly context: Context;
  readonly #span: Span;
  readonly #method: string;
  readonly #isServer: boolean;
  readonly #startedAt = performance.now();
  #isOver = false;

  private constructor(method: string, parent: Context, kind: SpanKind) {
    this.#method = method;
    this.#isServer = kind === SpanKind.SERVER;
    const attributes = { "rpc.system.name": "connectrpc", "rpc.method": method };
    this.#span = startSpan(method, { kind, attributes }, parent);
    this.context = trace.setSpan(parent, this.#span);
  }

  /** @param method its full name, `package.Service/Method` */
  static made(method: string): TracedCall {
    return new TracedCall(method, context.active(), SpanKind.CLIENT);
  }

  /** @param traceparent as the caller sent it: without a good one a trace begins here */
  static answered(method: string, traceparent: string | null): TracedCall {
    return new TracedCall(method, contextOfTraceparent(traceparent), SpanKind.SERVER);
  }

  /** What its receiver continues the trace with. */
  get traceparent(): string {
    return traceparentOf(this.#span.spanContext());
  }

  run<T>(work: () => T): T {
    return context.with(this.context, work);
  }

  /** The first call counts. */
  end(thrown?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const code = thrown === undefined ? undefined : ConnectError.from(thrown).code;
    const status = code === undefined ? OK : wordOf(code);
    this.#span.setAttribute("rpc.response.status_code", status);
    if (code !== undefined && this.#isFailure(code)) failSpan(this.#span, status);
    this.#span.end();
    if (!this.#isServer) return;
    recordAnswered(performance.now() - this.#startedAt, { "rpc.method": this.#method, "rpc.response.status_code": status });
  }

  /** A caller that cancels has what it wants. */
  #isFailure(code: Code): boolean {
    return this.#isServer ? SERVER_FAILURES.has(code) : code !== Code.Canceled;
  }
}

/** As the Connect protocol writes it: `deadline_exceeded`. */
function wordOf(code: Code): string {
  return Code[code].replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();
}

import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { parseTimeout } from "@connectrpc/connect/protocol-connect";
import { webHeaders } from "../wire/web-headers.ts";

const FINISHED = new DOMException("The call has been answered.", "AbortError");

/** The context of a call as its handler sees it; what most handlers never ask for is made when they do. */
export class CallHandling implements HandlerContext {
  readonly method: DescMethod;
  readonly service: DescService;
  readonly requestMethod = "POST";
  readonly protocolName = "connect";
  readonly values = createContextValues();
  /** What is wrong with the deadline that the caller set. */
  readonly timeoutError: ConnectError | undefined;
  readonly #headers: IncomingHttpHeaders;
  readonly #ending = new AbortController();
  readonly #endsAt: number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethod, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, maximumTimeoutMilliseconds: number) {
    this.method = method;
    this.service = method.parent;
    this.#headers = headers;
    const { timeoutMs, error } = parseTimeout((headers["connect-timeout-ms"] as string | undefined) ?? null, maximumTimeoutMilliseconds);
    this.timeoutError = error;
    if (timeoutMs !== undefined && error === undefined) {
      this.#endsAt = Date.now() + timeoutMs;
      this.#timer = setTimeout(() => this.end(new ConnectError("the operation timed out", Code.DeadlineExceeded)), timeoutMs);
    }
    stream.once("close", () => {
      if (!this.signal.aborted) this.end(new ConnectError("The caller is gone.", Code.Canceled));
    });
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get url(): string {
    return `${this.#headers[":scheme"]}://${this.#headers[":authority"]}${this.#headers[":path"]}`;
  }

  get requestHeader(): Headers {
    return (this.#requestHeader ??= webHeaders(this.#headers));
  }

  get responseHeader(): Headers {
    return (this.#responseHeader ??= new Headers());
  }

  get responseTrailer(): Headers {
    return (this.#responseTrailer ??= new Headers());
  }

  /** The response's headers and trailers, where there are any. */
  get written(): { readonly header: Headers | undefined; readonly trailer: Headers | undefined } {
    return { header: this.#responseHeader, trailer: this.#responseTrailer };
  }

  readonly timeoutMs = (): number | undefined => (this.#endsAt === undefined ? undefined : this.#endsAt - Date.now());

  /** Aborts the signal; without a reason because the call has been answered. */
  end(reason: unknown = FINISHED): void {
    clearTimeout(this.#timer);
    this.#ending.abort(reason);
  }
}

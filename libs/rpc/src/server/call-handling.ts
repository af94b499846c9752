import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Begin } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";

const FINISHED = new DOMException("The call has been answered.", "AbortError");

/** The context of a carried call as its handler sees it; what most handlers never ask for is made when they do. */
export class CallHandling implements HandlerContext {
  readonly method: DescMethod;
  readonly service: DescService;
  readonly requestMethod = "POST";
  readonly protocolName = "connect";
  readonly values = createContextValues();
  readonly #origin: string;
  readonly #begin: Begin;
  readonly #ending = new AbortController();
  readonly #endsAt: number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  /** @param origin where the service was reached, for example `http://127.0.0.1:4000` */
  constructor(method: DescMethod, begin: Begin, origin: string) {
    this.method = method;
    this.service = method.parent;
    this.#origin = origin;
    this.#begin = begin;
    const { timeoutMilliseconds } = begin;
    if (timeoutMilliseconds > 0) {
      this.#endsAt = Date.now() + timeoutMilliseconds;
      this.#timer = setTimeout(() => this.end(new ConnectError("the operation timed out", Code.DeadlineExceeded)), timeoutMilliseconds);
    }
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get url(): string {
    return this.#origin + this.#begin.path;
  }

  get requestHeader(): Headers {
    return (this.#requestHeader ??= new Headers(this.#begin.headers));
  }

  /** Not carried to the caller. */
  get responseHeader(): Headers {
    return (this.#responseHeader ??= new Headers());
  }

  /** Not carried to the caller. */
  get responseTrailer(): Headers {
    return (this.#responseTrailer ??= new Headers());
  }

  /** One of the headers that came with the call; the name in lower case. */
  readonly header = (name: string): string | undefined => this.#begin.headers[name];

  readonly timeoutMs = (): number | undefined => (this.#endsAt === undefined ? undefined : this.#endsAt - Date.now());

  /** Aborts the signal; without a reason because the call has been answered. */
  end(reason: unknown = FINISHED): void {
    clearTimeout(this.#timer);
    this.#ending.abort(reason);
  }
}

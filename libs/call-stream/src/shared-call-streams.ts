import type { CallStream } from "./call-stream.ts";
import type { CallLimits, Case } from "./open-stream.ts";
import { estimateBytes } from "./estimate-bytes.ts";

/** So many share a stream: more make each cheaper, and lose more with its connection. */
const MOST_CALLS = 64;
/** A larger request would hold the others up, and one that is too large for a message would end their stream. */
const LARGEST_SHARED_BYTES = 4 * 1024 * 1024;

/**
 * Calls of many runs on a few streams, so that what they say at the same time goes together. Each call is checked, fails and is
 * cancelled by itself, as on a stream of its own; where the connection is lost, all of its stream are.
 */
export class SharedCallStreams<Request extends Case, Response extends Case> {
  readonly #open: (isShared: boolean) => CallStream<Request, Response>;
  readonly #streams: CallStream<Request, Response>[] = [];

  /** @param open makes a stream, and opens none before its first call */
  constructor(open: (isShared: boolean) => CallStream<Request, Response>) {
    this.#open = open;
  }

  /** As `CallStream.call`. @throws ConnectError */
  call(request: Request, limits: CallLimits, isLast: (response: Response) => boolean): AsyncGenerator<Response, void> {
    const isLarge = estimateBytes(request.value, LARGEST_SHARED_BYTES) >= LARGEST_SHARED_BYTES;
    return isLarge ? this.#callAlone(request, limits, isLast) : this.#withRoom().call(request, limits, isLast);
  }

  async *#callAlone(request: Request, limits: CallLimits, isLast: (response: Response) => boolean): AsyncGenerator<Response, void> {
    const alone = this.#open(false);
    try {
      yield* alone.call(request, limits, isLast);
    } finally {
      alone.close();
    }
  }

  #withRoom(): CallStream<Request, Response> {
    const found = this.#streams.find(({ underWay }) => underWay < MOST_CALLS);
    if (found !== undefined) return found;
    const opened = this.#open(true);
    this.#streams.push(opened);
    return opened;
  }
}

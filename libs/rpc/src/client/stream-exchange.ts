import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { EnvelopeSplitter, type Envelope } from "../wire/envelope-splitter.ts";
import type { CallLimits } from "./call-limits.ts";
import { lostCall } from "./lost-call.ts";

/** As much as may wait for a slow reader before the peer is told to wait: one HTTP/2 window. */
const MAXIMUM_WAITING_BYTES = 65_535;
/** What an envelope weighs in that count without its message, so that empty ones count too. */
const ENVELOPE_BYTES = 64;

/** Sends one body and takes a stream of envelopes back, no faster than they are read. */
export class StreamExchange {
  readonly #stream: ClientHttp2Stream;
  readonly #stopWatch: () => void;
  readonly #waiting: Envelope[] = [];
  #waitingBytes = 0;
  #headers: IncomingHttpHeaders | undefined;
  #hasEnded = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(stream: ClientHttp2Stream, body: Uint8Array, limits: CallLimits, maximumBytes: number) {
    this.#stream = stream;
    const splitter = new EnvelopeSplitter(maximumBytes);
    let cause: NodeJS.ErrnoException | undefined;
    this.#stopWatch = limits.watch((reason) => {
      this.#waiting.length = 0;
      this.#fail(reason);
    });
    stream.on("response", (headers) => {
      this.#headers = headers;
      this.#wake?.();
    });
    stream.on("data", (chunk: Buffer) => this.#receive(splitter, chunk));
    stream.on("end", () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
      if (splitter.isEmpty) this.#end();
      else this.#fail(new ConnectError("The stream of messages ends within one.", Code.InvalidArgument));
    });
    stream.on("error", (error) => {
      cause = error;
    });
    stream.on("close", () => {
      if (!this.#hasEnded) this.#fail(lostCall(stream.rstCode, cause));
    });
    stream.end(body);
  }

  /** @throws ConnectError where the call was cancelled, timed out or lost */
  async headers(): Promise<IncomingHttpHeaders> {
    while (this.#headers === undefined) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#woken();
    }
    return this.#headers;
  }

  /** The next envelope; undefined after the last. @throws ConnectError as `headers`, or what the splitter throws */
  async next(): Promise<Envelope | undefined> {
    for (;;) {
      const envelope = this.#waiting.shift();
      if (envelope !== undefined) {
        this.#waitingBytes -= ENVELOPE_BYTES + envelope.data.length;
        if (this.#waitingBytes < MAXIMUM_WAITING_BYTES && this.#stream.isPaused()) this.#stream.resume();
        return envelope;
      }
      if (this.#hasEnded) return undefined;
      if (this.#failure !== undefined) throw this.#failure;
      await this.#woken();
    }
  }

  /** Tells the peer to stop, where it has not ended. */
  cancel(): void {
    this.#stopWatch();
    if (!this.#hasEnded && !this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #receive(splitter: EnvelopeSplitter, chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    try {
      for (const envelope of splitter.push(chunk)) {
        this.#waiting.push(envelope);
        this.#waitingBytes += ENVELOPE_BYTES + envelope.data.length;
      }
    } catch (thrown) {
      this.#fail(thrown);
    }
    if (this.#waitingBytes >= MAXIMUM_WAITING_BYTES) this.#stream.pause();
    if (this.#waiting.length > 0) this.#wake?.();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#stopWatch();
    this.#wake?.();
  }

  #fail(reason: unknown): void {
    if (this.#hasEnded || this.#failure !== undefined) return;
    this.#failure = reason;
    this.cancel();
    this.#wake?.();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

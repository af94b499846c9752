import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";

const PING_INTERVAL_MILLISECONDS = 15_000;
const PING_TIMEOUT_MILLISECONDS = 5_000;
/** While more than this waits to be sent Node refuses headers that come: with its own 10, those of the first answer. */
const MAXIMUM_SESSION_MEGABYTES = 1_024;

/**
 * One HTTP/2 connection; without calls it does not keep the process alive. A peer that froze is noticed by a ping that
 * it does not answer within 5 s: every 15 s while calls are under way, and with the first call after 15 s of silence.
 * Then the connection is cut, and its calls fail.
 */
export class MeshConnection {
  readonly #session: ClientHttp2Session;
  readonly #host: string;
  #calls = 0;
  #heardAt = performance.now();
  #isPinging = false;

  constructor(authority: string) {
    this.#host = new URL(authority).host;
    this.#session = connect(authority, { settings: { enablePush: false }, maxSessionMemory: MAXIMUM_SESSION_MEGABYTES });
    this.#session.unref();
    // Every stream gets the error too, and tells its caller.
    this.#session.on("error", () => undefined);
    const interval = setInterval(() => {
      if (this.#calls > 0) this.#ping();
    }, PING_INTERVAL_MILLISECONDS).unref();
    this.#session.once("close", () => clearInterval(interval));
  }

  /** False once it broke, or the peer said that it takes no further calls. */
  get isUsable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** A stream of HTTP/2 that is a call by itself. Where the connection fails, the stream does. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.open(headers);
    this.callBegins();
    stream.once("close", () => this.callEnds(stream.rstCode === constants.NGHTTP2_NO_ERROR));
    return stream;
  }

  /** A stream of HTTP/2 whose calls are told with `callBegins` and `callEnds`. */
  open(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    // Node would leave the brackets of an IPv6 address out.
    return this.#session.request({ ...headers, ":authority": this.#host });
  }

  /** Takes no further streams, and ends with those that are open. */
  close(): void {
    this.#session.close();
  }

  callBegins(): void {
    if (++this.#calls === 1) this.#session.ref();
    if (performance.now() - this.#heardAt > PING_INTERVAL_MILLISECONDS) this.#ping();
  }

  callEnds(isAnswered: boolean): void {
    if (--this.#calls === 0) this.#session.unref();
    if (isAnswered) this.#heardAt = performance.now();
  }

  #ping(): void {
    if (this.#isPinging || this.#session.connecting || !this.isUsable) return;
    this.#isPinging = true;
    const unanswered = setTimeout(() => this.#session.destroy(), PING_TIMEOUT_MILLISECONDS).unref();
    this.#session.ping((error) => {
      clearTimeout(unanswered);
      this.#isPinging = false;
      if (error === null) this.#heardAt = performance.now();
    });
  }
}

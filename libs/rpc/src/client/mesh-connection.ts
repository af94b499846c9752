import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";

const PING_INTERVAL_MILLISECONDS = 15_000;
const PING_TIMEOUT_MILLISECONDS = 5_000;

/**
 * One HTTP/2 connection; without calls it does not keep the process alive. A peer that froze is noticed by a ping that
 * it does not answer within 5 s: every 15 s while calls are under way, and with the first call after 15 s of silence.
 * Then the connection is cut, and its calls fail.
 */
export class MeshConnection {
  readonly #session: ClientHttp2Session;
  readonly #host: string;
  #streams = 0;
  #heardAt = performance.now();
  #isPinging = false;

  constructor(authority: string) {
    this.#host = new URL(authority).host;
    this.#session = connect(authority, { settings: { enablePush: false } });
    this.#session.unref();
    // Every stream gets the error too, and tells its caller.
    this.#session.on("error", () => undefined);
    const interval = setInterval(() => {
      if (this.#streams > 0) this.#ping();
    }, PING_INTERVAL_MILLISECONDS).unref();
    this.#session.once("close", () => clearInterval(interval));
  }

  /** False once it broke, or the peer said that it takes no further calls. */
  get isUsable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** Starts a call. Where the connection fails, the stream does. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    // Node would leave the brackets of an IPv6 address out.
    const stream = this.#session.request({ ...headers, ":authority": this.#host });
    if (++this.#streams === 1) this.#session.ref();
    if (performance.now() - this.#heardAt > PING_INTERVAL_MILLISECONDS) this.#ping();
    stream.once("close", () => {
      if (--this.#streams === 0) this.#session.unref();
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) this.#heardAt = performance.now();
    });
    return stream;
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

import { EventEmitter, once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { PeerLine } from "./peer-line.ts";

/** A service that does by hand, frame by frame, what a test wants, and may break the contract of `hlvm.mesh.v1`. */
export class RawPeer {
  /** Every connection that was made to it, and every stream that carries calls on them. */
  readonly sessions: ServerHttp2Session[] = [];
  readonly lines: PeerLine[] = [];
  readonly #server: Http2Server;
  readonly #changes = new EventEmitter();
  #taken = 0;

  private constructor(answer: ((stream: ServerHttp2Stream) => void) | undefined) {
    this.#server = createServer();
    this.#server.on("session", (session) => {
      session.on("error", () => undefined);
      this.sessions.push(session);
    });
    this.#server.on("stream", (stream) => {
      if (answer === undefined) this.lines.push(new PeerLine(stream as ServerHttp2Stream));
      else answer(stream.on("error", () => undefined) as ServerHttp2Stream);
      this.#changes.emit("change");
    });
  }

  /** @param answer gets every stream; without it they carry calls */
  static async listen(answer?: (stream: ServerHttp2Stream) => void, port = 0): Promise<RawPeer> {
    const peer = new RawPeer(answer);
    peer.#server.listen(port, "127.0.0.1");
    await once(peer.#server, "listening");
    return peer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The stream that is opened next. */
  async nextLine(): Promise<PeerLine> {
    while (this.lines.length === this.#taken) await once(this.#changes, "change");
    return this.lines[this.#taken++]!;
  }

  /** Cuts every connection, and listens no more. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.sessions) session.destroy();
    await closed;
  }
}

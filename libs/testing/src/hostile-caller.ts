import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import fc from "fast-check";

const CONTENT_TYPES = ["application/connect+proto", "application/grpc+proto", "application/grpc-web+proto"];
/** Of a stream that its server should have answered or ended long ago. */
const DEADLINE_MILLISECONDS = 10_000;

/** What is sent on one stream, and how its caller leaves. */
export interface HostileStream {
  readonly contentType: string;
  readonly pieces: readonly Uint8Array[];
  readonly leaves: "by its end" | "by a reset" | "with its connection";
}

/** @param messages bytes of messages that the method takes, in any order and with any numbers */
export function hostileStreams(messages: fc.Arbitrary<Uint8Array>): fc.Arbitrary<HostileStream> {
  const bytes = fc.uint8Array({ maxLength: 200 });
  const piece = fc.oneof(
    { weight: 3, arbitrary: messages.map((message) => envelope(0, message)) },
    { weight: 1, arbitrary: fc.tuple(fc.integer({ min: 0, max: 255 }), bytes).map(([flags, message]) => envelope(flags, message)) },
    { weight: 1, arbitrary: fc.tuple(messages, fc.nat(100)).map(([message, cut]) => envelope(0, message).subarray(0, cut)) },
    { weight: 1, arbitrary: bytes },
  );
  return fc.record({
    contentType: fc.constantFrom(...CONTENT_TYPES),
    pieces: fc.array(piece, { maxLength: 12 }),
    leaves: fc.constantFrom("by its end", "by a reset", "with its connection"),
  });
}

/** A caller that sends what it likes. A connection that the server closes, it makes again. */
export class HostileCaller {
  readonly #url: string;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  #session: ClientHttp2Session | undefined;

  /** @param path of the method, `/package.Service/Method` @param authorization a header that the server believes */
  constructor(url: string, path: string, authorization: string) {
    this.#url = url;
    this.#path = path;
    this.#headers = { authorization, te: "trailers" };
  }

  /** @returns what came back of it, as text; @throws Error where the server neither answers nor ends the stream */
  async send({ contentType, pieces, leaves }: HostileStream): Promise<string> {
    const stream = this.#open(contentType);
    let answer = "";
    stream.on("data", (piece: Buffer) => (answer += piece.toString("latin1")));
    const closed = new Promise<void>((resolve) => stream.once("close", resolve));
    for (const piece of pieces) stream.write(piece);
    if (leaves === "by its end") stream.end();
    else await new Promise((written) => stream.write(new Uint8Array(), written));
    if (leaves === "by a reset") stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    if (leaves === "with its connection") this.#session?.destroy();
    const late = setTimeout(() => stream.destroy(new Error("late")), DEADLINE_MILLISECONDS);
    await closed;
    clearTimeout(late);
    if (stream.errored?.message === "late") throw new Error(`The server neither answered nor ended a stream in time: ${answer}`);
    return answer;
  }

  /** Opens streams and resets them at once. */
  async openAndReset(times: number): Promise<void> {
    for (let opened = 0; opened < times; opened += 100) {
      const streams = Array.from({ length: 100 }, () => this.#open(CONTENT_TYPES[opened % CONTENT_TYPES.length]!));
      const closed = streams.map(
        (stream) => new Promise<void>((resolve) => void (stream.closed ? resolve() : stream.once("close", resolve))),
      );
      for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
      await Promise.all(closed);
    }
  }

  close(): void {
    this.#session?.destroy();
  }

  #open(contentType: string): ClientHttp2Stream {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed)
      this.#session = connect(this.#url).on("error", () => undefined);
    const headers = { ...this.#headers, ":method": "POST", ":path": this.#path, "content-type": contentType };
    return this.#session.request(headers).on("error", () => undefined);
  }
}

/** As Connect and gRPC frame a message. */
function envelope(flags: number, message: Uint8Array): Uint8Array {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt8(flags);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}

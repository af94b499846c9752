import { EventEmitter, once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { CarryRequestSchema, CarryResponseSchema, type CarryRequest, type EndSchema } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { EnvelopeSplitter } from "../wire/envelope-splitter.ts";
import { MAXIMUM_CARRIED_BYTES } from "../wire/maximum-carried-bytes.ts";

const END_STREAM = 2;

/** A service's end of a stream that carries calls, spoken by hand. */
export class PeerLine {
  readonly stream: ServerHttp2Stream;
  /** Everything that the caller said, in order. */
  readonly heard: CarryRequest[] = [];
  readonly #changes = new EventEmitter();
  #taken = 0;

  constructor(stream: ServerHttp2Stream) {
    this.stream = stream;
    const splitter = new EnvelopeSplitter(MAXIMUM_CARRIED_BYTES);
    stream.on("error", () => undefined);
    stream.on("close", () => this.#changes.emit("change"));
    stream.on("data", (chunk: Buffer) => {
      for (const { data } of splitter.push(chunk)) this.heard.push(fromBinary(CarryRequestSchema, data));
      this.#changes.emit("change");
    });
    stream.respond({ ":status": 200, "content-type": "application/connect+proto" });
  }

  /** What the caller says next. @throws Error where the stream closes before */
  async next(): Promise<CarryRequest> {
    while (this.heard.length === this.#taken) {
      if (this.stream.closed) throw new Error(`The stream is closed (${this.stream.rstCode}).`);
      await once(this.#changes, "change");
    }
    return this.heard[this.#taken++]!;
  }

  send(call: number, answers: Uint8Array[], end?: MessageInitShape<typeof EndSchema>): void {
    this.write(encodeEnvelope(0, toBinary(CarryResponseSchema, create(CarryResponseSchema, { call, answers, end }))));
  }

  write(bytes: Uint8Array): void {
    this.stream.write(bytes);
  }

  /** Says that nothing more comes, and closes the stream. */
  end(): void {
    this.stream.end(encodeEnvelope(END_STREAM, Buffer.from("{}")));
  }
}

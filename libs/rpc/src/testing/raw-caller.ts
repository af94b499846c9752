import { EventEmitter, once } from "node:events";
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { create, fromBinary, toBinary, type DescMessage, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";
import { CarryRequestSchema, CarryResponseSchema, type BeginSchema, type CarryResponse } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { EnvelopeSplitter } from "../wire/envelope-splitter.ts";
import { MAXIMUM_CARRIED_BYTES } from "../wire/maximum-carried-bytes.ts";
import type { ServedSessions } from "./serve-sessions.ts";

const END_STREAM = 2;

export interface Outcome {
  readonly answers: readonly Uint8Array[];
  readonly error: { readonly code: string; readonly message?: string; readonly details?: readonly { readonly type: string }[] } | undefined;
  readonly neverBegun: boolean;
}

/** A caller that speaks `hlvm.mesh.v1` by hand, frame by frame, and may break it. */
export class RawCaller {
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
  /** Everything that the service said, in order. */
  readonly heard: CarryResponse[] = [];
  /** Whether the service said that nothing more comes. */
  isEnded = false;
  readonly closed: Promise<unknown>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #changes = new EventEmitter();
  #lastProbe = 2 ** 32;

  constructor({ url, headers }: ServedSessions) {
    this.#headers = headers;
    this.session = connect(url).on("error", () => undefined);
    this.stream = this.session.request({
      ":method": "POST",
      ":path": "/hlvm.mesh.v1.MeshService/Carry",
      "content-type": "application/connect+proto",
    });
    this.closed = new Promise((resolve) => this.stream.once("close", resolve));
    const splitter = new EnvelopeSplitter(MAXIMUM_CARRIED_BYTES);
    this.stream.on("error", () => undefined);
    this.stream.on("close", () => this.#changes.emit("change"));
    this.stream.on("data", (chunk: Buffer) => {
      for (const { flags, data } of splitter.push(chunk))
        if (flags === END_STREAM) this.isEnded = true;
        else this.heard.push(fromBinary(CarryResponseSchema, data));
      this.#changes.emit("change");
    });
  }

  /** Begins a call, with a token where `more` has no headers of its own. */
  begin<I extends DescMessage>(
    call: number,
    method: DescMethod & { input: I },
    message: MessageInitShape<I>,
    more?: MessageInitShape<typeof BeginSchema>,
  ): void {
    const path = `/${method.parent.typeName}/${method.name}`;
    const request = toBinary(method.input, create(method.input, message));
    this.send({ call, kind: { case: "begin", value: { path, headers: this.#headers, request, ...more } } });
  }

  cancel(call: number): void {
    this.send({ call, kind: { case: "cancel", value: {} } });
  }

  read(call: number, weight: number): void {
    this.send({ call, kind: { case: "read", value: weight } });
  }

  send(request: MessageInitShape<typeof CarryRequestSchema>): void {
    this.stream.write(encodeEnvelope(0, toBinary(CarryRequestSchema, create(CarryRequestSchema, request))));
  }

  answersOf(call: number): Uint8Array[] {
    return this.heard.filter((response) => response.call === call).flatMap(({ answers }) => answers);
  }

  /** How a call ended, once it has. */
  async outcome(call: number): Promise<Outcome> {
    const end = await this.until(() => this.heard.find((response) => response.call === call && response.end !== undefined)?.end);
    const { errorJson, neverBegun } = end;
    const error = errorJson.length === 0 ? undefined : (JSON.parse(Buffer.from(errorJson).toString()) as Outcome["error"]);
    return { answers: this.answersOf(call), error, neverBegun };
  }

  /** Resolves once there is what `find` looks for. @throws Error where the stream closes before */
  async until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.stream.closed) throw new Error(`The stream is closed (${this.stream.rstCode}).`);
      await once(this.#changes, "change");
    }
  }

  /** Resolves once the service has dealt with what was sent before, but for tokens that it still verifies: two more calls were answered. */
  async settled(): Promise<void> {
    for (let round = 0; round < 2; round++) {
      this.begin(--this.#lastProbe, Health.method.check, {});
      await this.outcome(this.#lastProbe);
    }
  }

  /** Breaks the stream off. */
  leave(): void {
    this.stream.close(constants.NGHTTP2_CANCEL);
  }
}

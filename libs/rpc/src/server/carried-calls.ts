import { constants, type ServerHttp2Stream } from "node:http2";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { CarryRequestSchema, CarryResponseSchema, type Begin, type EndSchema } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { decodeMessage } from "../wire/decode-message.ts";
import { EnvelopeSplitter } from "../wire/envelope-splitter.ts";
import { MAXIMUM_CALLS } from "../wire/maximum-calls.ts";
import { MAXIMUM_CARRIED_BYTES } from "../wire/maximum-carried-bytes.ts";
import { MESSAGE_FLAGS } from "../wire/message-flags.ts";
import { answerCall, type CarriedSpec } from "./answer-call.ts";
import { CallAnswers } from "./call-answers.ts";
import { CallHandling } from "./call-handling.ts";
import { errorJson } from "./error-json.ts";
import type { ServerParts } from "./server-parts.ts";

const NOTHING_MORE_TO_SAY = Buffer.from("{}");

interface OpenCall {
  readonly handling: CallHandling;
  readonly answers: CallAnswers;
}

/** The calls that come on one stream, from its opening to its end. */
export class CarriedCalls {
  readonly #stream: ServerHttp2Stream;
  readonly #origin: string;
  readonly #server: ServerParts;
  readonly #splitter = new EnvelopeSplitter(MAXIMUM_CARRIED_BYTES);
  readonly #open = new Map<number, OpenCall>();
  #isClosing = false;

  /** @param origin where the service was reached */
  constructor(stream: ServerHttp2Stream, origin: string, server: ServerParts) {
    this.#stream = stream;
    this.#origin = origin;
    this.#server = server;
    stream.on("data", (chunk: Buffer) => this.#receive(chunk));
    stream.on("end", () => this.close());
    // Without a listener an error would end the process; that the stream is closed is told by its close.
    stream.on("error", () => undefined);
    stream.on("close", () => this.end(new ConnectError("The caller is gone.", Code.Canceled)));
    stream.respond({ ":status": constants.HTTP_STATUS_OK, "content-type": "application/connect+proto" });
  }

  /** Begins no further call; the stream ends with the last one. */
  close(): void {
    this.#isClosing = true;
    if (this.#open.size === 0 && this.#isWritable) this.#stream.end(encodeEnvelope(endStreamFlag, NOTHING_MORE_TO_SAY));
  }

  /** Tells every handler to stop. */
  end(reason: unknown): void {
    for (const { handling } of this.#open.values()) handling.end(reason);
  }

  get #isWritable(): boolean {
    return !this.#stream.closed && !this.#stream.destroyed && !this.#stream.writableEnded;
  }

  #receive(chunk: Buffer): void {
    try {
      for (const { flags, data } of this.#splitter.push(chunk)) {
        if ((flags & endStreamFlag) !== 0) continue;
        const { call, kind } = decodeMessage(CarryRequestSchema, data);
        if (kind.case === "begin") this.#begin(call, kind.value);
        else if (kind.case === "read") this.#open.get(call)?.answers.wasRead(kind.value);
        else if (kind.case === "cancel") this.#cancel(call);
      }
    } catch (thrown) {
      this.#server.log.warn({ err: thrown }, "a caller did not keep to the contract of the mesh; its connection is cut");
      this.#stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
    }
  }

  #begin(call: number, begin: Begin): void {
    if (this.#open.has(call)) throw new ConnectError(`The call ${call} was begun twice.`, Code.InvalidArgument);
    if (this.#isClosing) return this.#send(call, [], { neverBegun: true });
    const spec = this.#specOf(begin);
    if (spec instanceof ConnectError) return this.#send(call, [], { errorJson: errorJson(spec) });
    void this.#handle(call, begin, spec);
  }

  async #handle(call: number, begin: Begin, spec: CarriedSpec): Promise<void> {
    const handling = new CallHandling(spec.method, begin, this.#origin);
    const answers = new CallAnswers((ready, end) => this.#send(call, ready, end));
    this.#open.set(call, { handling, answers });
    try {
      const failure = await answerCall(spec, begin.request, handling, answers, this.#server);
      answers.end(failure === undefined ? {} : { errorJson: errorJson(failure) });
      handling.end(failure);
    } catch (thrown) {
      this.#server.log.error({ err: thrown, method: begin.path }, "the answer could not be written");
      handling.end(thrown);
      this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
    this.#open.delete(call);
    if (this.#isClosing) this.close();
  }

  #cancel(call: number): void {
    const open = this.#open.get(call);
    open?.answers.drop();
    open?.handling.end(new ConnectError("The caller left.", Code.Canceled));
  }

  #specOf({ path, timeoutMilliseconds }: Begin): CarriedSpec | ConnectError {
    const { methods, maximumTimeoutMilliseconds } = this.#server;
    if (this.#open.size >= MAXIMUM_CALLS)
      return new ConnectError(`${MAXIMUM_CALLS} calls are under way on this stream.`, Code.ResourceExhausted);
    if (timeoutMilliseconds > maximumTimeoutMilliseconds)
      return new ConnectError(`A deadline may be ${maximumTimeoutMilliseconds} ms away at most.`, Code.InvalidArgument);
    const spec = methods.get(path);
    if (spec?.kind === "unary" || spec?.kind === "server_streaming") return spec;
    return new ConnectError(`There is no method ${path} here that can be carried.`, Code.Unimplemented);
  }

  #send(call: number, answers: Uint8Array[], end?: MessageInitShape<typeof EndSchema>): void {
    if (!this.#isWritable) return;
    const response = create(CarryResponseSchema, { call, answers, end });
    this.#stream.write(encodeEnvelope(MESSAGE_FLAGS, toBinary(CarryResponseSchema, response)));
  }
}

import { constants, type ClientHttp2Stream } from "node:http2";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { BeginSchema, CarryRequestSchema, CarryResponseSchema, MeshService, type CarryRequest } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { decodeMessage } from "../wire/decode-message.ts";
import { EnvelopeSplitter } from "../wire/envelope-splitter.ts";
import { MAXIMUM_CALLS } from "../wire/maximum-calls.ts";
import { MAXIMUM_CARRIED_BYTES } from "../wire/maximum-carried-bytes.ts";
import { MESSAGE_FLAGS } from "../wire/message-flags.ts";
import type { CallLimits } from "./call-limits.ts";
import { CarriedCall } from "./carried-call.ts";
import { checkResponse } from "./check-response.ts";
import { lostCall } from "./lost-call.ts";
import { MeshConnection } from "./mesh-connection.ts";
import { NeverBegunError } from "./never-begun-error.ts";
import { requestHeaders } from "./request-headers.ts";

const METHOD = MeshService.method.carry;

/** One connection to a service, with one stream on it that carries all calls. */
export class CallCarrier {
  readonly #connection: MeshConnection;
  readonly #stream: ClientHttp2Stream;
  readonly #splitter = new EnvelopeSplitter(MAXIMUM_CARRIED_BYTES);
  readonly #calls = new Map<number, CarriedCall>();
  #lastCall = 0;
  #isLeaving = false;
  #failure: ConnectError | undefined;

  /** @param prefix what comes before the path of every method, without a `/` at its end */
  constructor(origin: string, prefix: string) {
    this.#connection = new MeshConnection(origin);
    const stream = this.#connection.open(
      requestHeaders(`${prefix}/${METHOD.parent.typeName}/${METHOD.name}`, METHOD, undefined, undefined),
    );
    this.#stream = stream;
    let cause: NodeJS.ErrnoException | undefined;
    stream.on("response", (headers) => this.#orBreak(() => checkResponse(METHOD, headers)));
    stream.on("data", (chunk: Buffer) => this.#orBreak(() => this.#receive(chunk)));
    stream.on("end", () => stream.end());
    stream.on("error", (error) => {
      cause = error;
    });
    stream.on("close", () => {
      const reason = this.#failure ?? lostCall(stream.rstCode, cause);
      for (const call of this.#calls.values()) call.lose(reason);
      this.#connection.close();
    });
  }

  /** False where the connection broke, the service takes no further calls on it, or as many as may be are under way. */
  get isUsable(): boolean {
    return (
      !this.#isLeaving && this.#calls.size < MAXIMUM_CALLS && this.#connection.isUsable && !this.#stream.closed && !this.#stream.destroyed
    );
  }

  begin(begin: MessageInitShape<typeof BeginSchema>, limits: CallLimits): CarriedCall {
    const number = this.#freeNumber();
    this.#connection.callBegins();
    const call = new CarriedCall(limits, {
      send: (kind) => this.#send(number, kind),
      over: (isAnswered) => {
        this.#calls.delete(number);
        if (this.#isLeaving) this.leave();
        this.#connection.callEnds(isAnswered);
      },
    });
    this.#calls.set(number, call);
    this.#send(number, { case: "begin", value: create(BeginSchema, begin) });
    return call;
  }

  /** Takes no further calls; the connection ends with the last one. */
  leave(): void {
    this.#isLeaving = true;
    if (this.#calls.size === 0) this.#stream.end();
  }

  #freeNumber(): number {
    do this.#lastCall = (this.#lastCall + 1) >>> 0;
    while (this.#calls.has(this.#lastCall));
    return this.#lastCall;
  }

  #send(call: number, kind: CarryRequest["kind"]): void {
    if (this.#stream.closed || this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#stream.write(encodeEnvelope(MESSAGE_FLAGS, toBinary(CarryRequestSchema, create(CarryRequestSchema, { call, kind }))));
  }

  #receive(chunk: Buffer): void {
    for (const { flags, data } of this.#splitter.push(chunk)) {
      if ((flags & endStreamFlag) !== 0) {
        // It says so when no call is under way: it cannot have begun those that are waited for.
        this.#isLeaving = true;
        for (const call of this.#calls.values()) call.lose(new NeverBegunError(undefined));
        continue;
      }
      const response = decodeMessage(CarryResponseSchema, data);
      if (response.end?.neverBegun === true) this.#isLeaving = true;
      this.#calls.get(response.call)?.receive(response);
    }
  }

  /** A peer that does not keep to the contract is not listened to any further. */
  #orBreak(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#failure ??= ConnectError.from(thrown);
      this.#stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
    }
  }
}

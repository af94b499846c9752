import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type MethodImplSpec } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag, endStreamToJson } from "@connectrpc/connect/protocol-connect";
import { translateError } from "../translate-error.ts";
import { decodeMessage } from "../wire/decode-message.ts";
import { MESSAGE_FLAGS } from "../wire/message-flags.ts";
import { writeHeaders } from "../wire/write-headers.ts";
import { admitRequest } from "./admit-request.ts";
import { JoinedWrites } from "./joined-writes.ts";
import { readBody } from "./read-body.ts";
import { readSingleEnvelope } from "./read-single-envelope.ts";
import type { ServerCall } from "./server-call.ts";

type StreamingSpec = Extract<MethodImplSpec, { kind: "server_streaming" }>;

/** What a request may have besides its message: the envelope around it, and one that marks its end. */
const ENVELOPES_BYTES = 64;

/** Reads the one message, has it handled and writes what comes of it, as fast as the caller reads. */
export async function answerServerStreaming(spec: StreamingSpec, call: ServerCall): Promise<void> {
  const { stream, handling, server } = call;
  const writes = new JoinedWrites(stream);
  let failure: ConnectError | undefined;
  try {
    const body = await readBody(stream, server.maximumMessageBytes + ENVELOPES_BYTES);
    if (handling.timeoutError !== undefined) throw handling.timeoutError;
    await handle(spec, call, writes, decodeMessage(spec.method.input, readSingleEnvelope(body, server.maximumMessageBytes)));
  } catch (thrown) {
    failure = ConnectError.from(thrown, Code.Internal);
  }
  handling.end(failure);
  if (stream.closed || stream.destroyed) return;
  begin(call);
  const end = endStreamToJson(handling.responseTrailer, failure, undefined);
  writes.end(encodeEnvelope(endStreamFlag, Buffer.from(JSON.stringify(end))));
}

async function handle(
  { method, impl }: StreamingSpec,
  call: ServerCall,
  writes: JoinedWrites,
  request: Parameters<StreamingSpec["impl"]>[0],
): Promise<void> {
  try {
    await admitRequest(call, method.input, request);
    for await (const message of impl(request, call.handling)) {
      if (call.stream.closed || call.stream.destroyed) return;
      begin(call);
      writes.write(encodeEnvelope(MESSAGE_FLAGS, toBinary(method.output, create(method.output, message))));
      if (call.stream.writableNeedDrain) await drained(call.stream, call.handling.signal);
    }
  } catch (thrown) {
    throw translateError(call.server.log, thrown, `${method.parent.typeName}/${method.name}`);
  }
}

/** Sends the headers, once: before the first message, so that a handler can set its own until then. */
function begin({ stream, handling }: ServerCall): void {
  if (stream.headersSent) return;
  const headers: OutgoingHttpHeaders = {};
  const { header } = handling.written;
  if (header !== undefined) writeHeaders(headers, header);
  headers[":status"] = 200;
  headers["content-type"] = "application/connect+proto";
  stream.respond(headers);
}

/** Waits for a slow reader until it reads again or goes, and not longer than the call may take. */
async function drained(stream: ServerHttp2Stream, signal: AbortSignal): Promise<void> {
  if (stream.closed || stream.destroyed) return;
  const giveUp = (): void => stream.close(constants.NGHTTP2_CANCEL);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      stream.off("drain", settle);
      stream.off("close", settle);
      resolve();
    };
    stream.on("drain", settle);
    stream.on("close", settle);
  });
  signal.removeEventListener("abort", giveUp);
}

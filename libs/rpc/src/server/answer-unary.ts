import type { OutgoingHttpHeaders } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type MethodImplSpec } from "@connectrpc/connect";
import { mergeNonProtocolHeaders } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { translateError } from "../translate-error.ts";
import { decodeMessage } from "../wire/decode-message.ts";
import { writeHeaders } from "../wire/write-headers.ts";
import { admitRequest } from "./admit-request.ts";
import { readBody } from "./read-body.ts";
import type { ServerCall } from "./server-call.ts";

type UnarySpec = Extract<MethodImplSpec, { kind: "unary" }>;

/** Reads the one message, has it handled and writes the one back, or the error. */
export async function answerUnary(spec: UnarySpec, call: ServerCall): Promise<void> {
  let answer: Uint8Array | undefined;
  let failure: ConnectError | undefined;
  try {
    const body = await readBody(call.stream, call.server.maximumMessageBytes);
    if (call.handling.timeoutError !== undefined) throw call.handling.timeoutError;
    answer = await handle(spec, call, decodeMessage(spec.method.input, body));
  } catch (thrown) {
    failure = ConnectError.from(thrown, Code.Internal);
  }
  call.handling.end(failure);
  if (!call.stream.closed && !call.stream.destroyed) respond(call, answer, failure);
}

async function handle({ method, impl }: UnarySpec, call: ServerCall, request: Parameters<UnarySpec["impl"]>[0]): Promise<Uint8Array> {
  try {
    await admitRequest(call, method.input, request);
    return toBinary(method.output, create(method.output, await impl(request, call.handling)));
  } catch (thrown) {
    throw translateError(call.server.log, thrown, `${method.parent.typeName}/${method.name}`);
  }
}

function respond({ stream, handling }: ServerCall, answer: Uint8Array | undefined, failure: ConnectError | undefined): void {
  if (failure !== undefined && !failure.isWireError) mergeNonProtocolHeaders(handling.responseHeader, failure.metadata);
  const body = failure === undefined ? answer! : errorToJsonBytes(failure, undefined);
  const headers: OutgoingHttpHeaders = {};
  const { header, trailer } = handling.written;
  if (header !== undefined) writeHeaders(headers, header);
  if (trailer !== undefined) writeHeaders(headers, trailer, "trailer-");
  headers[":status"] = failure === undefined ? 200 : codeToHttpStatus(failure.code);
  headers["content-type"] = failure === undefined ? "application/proto" : "application/json";
  headers["content-length"] = body.length;
  stream.respond(headers);
  stream.end(body);
}

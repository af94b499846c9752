import { constants, type IncomingHttpHeaders } from "node:http2";
import type { MethodImplSpec } from "@connectrpc/connect";
import { answerServerStreaming } from "./answer-server-streaming.ts";
import { answerUnary } from "./answer-unary.ts";
import { CallHandling } from "./call-handling.ts";
import type { ServerCall, ServerParts } from "./server-call.ts";
import type { TakeStream } from "./take-stream.ts";

const ENCODINGS = ["content-encoding", "connect-content-encoding", "accept-encoding", "connect-accept-encoding"];

/**
 * Answers the calls that the services of the mesh make of each other: Connect's protocol over HTTP/2, binary,
 * uncompressed, unary or server-streaming. What it does it does as Connect's own adapter, which gets all else.
 */
export function fastPath(server: ServerParts): TakeStream {
  const open = new Set<CallHandling>();
  server.shutdownSignal.addEventListener("abort", () => {
    for (const handling of open) handling.end(server.shutdownSignal.reason);
  });
  return (stream, headers) => {
    const spec = specFor(server.methods, headers);
    if (spec === undefined) return false;
    // Without a listener an error would end the process; that the stream is closed is told by its close.
    stream.on("error", () => undefined);
    const handling = new CallHandling(spec.method, stream, headers, server.maximumTimeoutMilliseconds);
    open.add(handling);
    void answer(spec, { stream, handling, authorization: headers.authorization, server }).finally(() => open.delete(handling));
    return true;
  };
}

function specFor(methods: ServerParts["methods"], headers: IncomingHttpHeaders): MethodImplSpec | undefined {
  if (headers[":method"] !== "POST" || ENCODINGS.some((name) => headers[name] !== undefined)) return undefined;
  const spec = methods.get(headers[":path"] ?? "");
  const type = headers["content-type"];
  if (spec?.kind === "unary") return type === "application/proto" ? spec : undefined;
  return spec?.kind === "server_streaming" && type === "application/connect+proto" ? spec : undefined;
}

async function answer(spec: MethodImplSpec, call: ServerCall): Promise<void> {
  const { stream, handling, server } = call;
  try {
    if (spec.kind === "unary") await answerUnary(spec, call);
    else if (spec.kind === "server_streaming") await answerServerStreaming(spec, call);
    // Answered before all was read: the caller need not send the rest.
    if (!stream.readableEnded && !stream.closed) stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
  } catch (thrown) {
    server.log.error({ err: thrown, method: `${spec.method.parent.typeName}/${spec.method.name}` }, "the answer could not be written");
    handling.end(thrown);
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

import type { Interceptor } from "@connectrpc/connect";
import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";
import { iterateIn } from "@hlvm/telemetry/trace-context";
import { TracedCall } from "./traced-call.ts";

type Request = Parameters<ReturnType<Interceptor>>[0];

/** Makes every call that is answered a span under its caller's. What its handler does, in a stream of answers too, belongs to it. */
export const traceServerInterceptor: Interceptor = (next) => (request) =>
  isTraced(request) ? trace(TracedCall.answered(nameOf(request), request.header.get("traceparent")), next, request) : next(request);

/** Makes every call to another service a span, and tells that service of it. */
export const traceClientInterceptor: Interceptor = (next) => (request) => {
  if (!isTraced(request)) return next(request);
  const call = TracedCall.made(nameOf(request));
  request.header.set("traceparent", call.traceparent);
  return trace(call, next, request);
};

async function trace(call: TracedCall, next: ReturnType<Interceptor>, request: Request): ReturnType<ReturnType<Interceptor>> {
  // Whoever reads a stream may go without a word.
  request.signal.addEventListener("abort", () => call.end(request.signal.reason), { once: true });
  try {
    const response = await call.run(() => next(request));
    if (response.stream) return { ...response, message: iterateIn(call.context, response.message, (thrown) => call.end(thrown)) };
    call.end();
    return response;
  } catch (thrown) {
    call.end(thrown);
    throw thrown;
  }
}

/** Health checks come every second; the calls of a bidirectional stream are spans of their own. */
function isTraced({ service, method }: Request): boolean {
  return service.typeName !== Health.typeName && method.methodKind !== "bidi_streaming";
}

function nameOf({ service, method }: Request): string {
  return `${service.typeName}/${method.name}`;
}

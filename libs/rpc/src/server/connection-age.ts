import type { ServerHttp2Session } from "node:http2";
import type { NodeHandlerFn } from "../node-handler.ts";

const SPREAD = 0.1;

const draining = new WeakMap<object, AbortSignal>();

/**
 * Says GOAWAY to a connection of this age, give or take a tenth, so that its caller connects anew and finds the replicas that
 * have come since. Calls under way go on; streams of calls are told to drain before, for their next call to go elsewhere.
 */
export function limitAge(session: ServerHttp2Session, ageMilliseconds: number): void {
  const drain = new AbortController();
  draining.set(session, drain.signal);
  const age = ageMilliseconds * (1 - SPREAD + Math.random() * 2 * SPREAD);
  const timer = setTimeout(() => {
    drain.abort();
    session.close();
  }, age);
  timer.unref();
  session.once("close", () => clearTimeout(timer));
}

/** Aborted when the connection of this request is too old; HTTP/1.1 has none. */
export function connectionDraining(request: Parameters<NodeHandlerFn>[0]): AbortSignal | undefined {
  const session = "stream" in request ? request.stream.session : undefined;
  return session === undefined ? undefined : draining.get(session);
}

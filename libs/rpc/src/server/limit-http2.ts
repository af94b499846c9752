import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { ConnectionLimits } from "./connection-limits.ts";

/** For the caller to see GOAWAY and go, and for a request head that is still coming. */
const GOAWAY_GRACE_MILLISECONDS = 1_000;

/** Node limits connections of HTTP/1.1 by itself and none of HTTP/2: this says GOAWAY to those without requests. */
export function limitSession(session: ServerHttp2Session, { requestHeadMilliseconds, idleMilliseconds }: ConnectionLimits): void {
  let open = 0;
  const close = (): void => {
    session.close();
    timer = setTimeout(() => session.destroy(), GOAWAY_GRACE_MILLISECONDS);
  };
  let timer = setTimeout(close, requestHeadMilliseconds);
  session.on("stream", (stream) => {
    clearTimeout(timer);
    open += 1;
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !session.destroyed) timer = setTimeout(close, idleMilliseconds);
    });
  });
  session.once("close", () => clearTimeout(timer));
}

/** Ends a stream whose caller has not sent all of its request by then, but for one that answers already: it carries calls. */
export function limitRequest(stream: ServerHttp2Stream, { requestMilliseconds }: ConnectionLimits): void {
  const timer = setTimeout(() => {
    if (stream.state.state === constants.NGHTTP2_STREAM_STATE_OPEN && !stream.headersSent) stream.close(constants.NGHTTP2_CANCEL);
  }, requestMilliseconds);
  stream.once("close", () => clearTimeout(timer));
}

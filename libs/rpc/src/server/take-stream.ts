import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";

/** Takes an HTTP/2 request over and answers it, or returns false where it is for somebody else. */
export type TakeStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;

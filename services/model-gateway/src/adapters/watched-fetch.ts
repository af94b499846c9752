import type { Exchange } from "./exchange.ts";
import { isEventStream } from "./is-event-stream.ts";
import { readRefusal } from "./read-refusal.ts";

const LINE_FEED = 0x0a;

export interface FetchedBy {
  /** As errors call it. */
  readonly provider: string;
  readonly authorization: Readonly<Record<string, string>>;
}

/** What an answer has to be where it is no error: the SDKs take any for what they asked for. */
type Expected = "stream" | "json";

/** What the SDKs send of their own. They take more from variables of the environment that nobody set for us. */
const OWN_HEADERS =
  /^(?:accept|accept-encoding|content-type|content-length|user-agent|anthropic-version|anthropic-beta|x-stainless-[\w-]+)$/;

/**
 * `fetch` for an SDK, with the headers that prove who asks and no others than its own: it ends with the exchange, which hears every piece, and follows no redirect, which would carry the key
 * to another server.
 */
export function watchedFetch({ provider, authorization }: FetchedBy, exchange: Exchange, expected: Expected): typeof fetch {
  return async (input, init) => {
    const headers = new Headers([...new Headers(init?.headers)].filter(([name]) => OWN_HEADERS.test(name)));
    for (const [name, value] of Object.entries(authorization)) headers.set(name, value);
    const signal = init?.signal ? AbortSignal.any([init.signal, exchange.signal]) : exchange.signal;
    const response = watched(await fetch(input, { ...init, headers, signal, redirect: "manual" }), exchange);
    if (response.status < 400 && !isExpected(response, expected)) throw await readRefusal(provider, response);
    return response;
  };
}

function isExpected(response: Response, expected: Expected): boolean {
  return expected === "stream" ? isEventStream(response) : response.headers.get("content-type")?.includes("json") === true;
}

/** In whole lines: the SDKs look through all that they have of a line again with every piece of it. */
function watched(response: Response, exchange: Exchange): Response {
  exchange.heard();
  if (response.body === null) return response;
  let unfinished: Uint8Array[] = [];
  const lines = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        exchange.heard(piece);
        const end = piece.lastIndexOf(LINE_FEED) + 1;
        if (end > 0) {
          controller.enqueue(Buffer.concat([...unfinished, piece.subarray(0, end)]));
          unfinished = [];
        }
        if (end < piece.length) unfinished.push(piece.subarray(end));
      },
      flush: (controller) => controller.enqueue(Buffer.concat(unfinished)),
    }),
  );
  return new Response(lines, { status: response.status, statusText: response.statusText, headers: response.headers });
}

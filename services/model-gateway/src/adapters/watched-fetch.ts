import type { Exchange } from "./exchange.ts";
import { isEventStream } from "./is-event-stream.ts";
import { readRefusal } from "./read-refusal.ts";

/**
 * `fetch` for an SDK, which takes any answer that is no error for a stream: it ends with the exchange, which hears every
 * piece, and follows no redirect, which would carry the key to another server.
 */
export function watchedFetch(provider: string, exchange: Exchange): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ? AbortSignal.any([init.signal, exchange.signal]) : exchange.signal;
    const response = watched(await fetch(input, { ...init, signal, redirect: "manual" }), exchange);
    if (response.status < 400 && !isEventStream(response)) throw await readRefusal(provider, response);
    return response;
  };
}

function watched(response: Response, exchange: Exchange): Response {
  exchange.heard();
  if (response.body === null) return response;
  const pieces = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        exchange.heard();
        controller.enqueue(piece);
      },
    }),
  );
  return new Response(pieces, { status: response.status, statusText: response.statusText, headers: response.headers });
}

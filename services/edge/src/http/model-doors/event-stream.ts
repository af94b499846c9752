import { once } from "node:events";
import type { Response } from "../send-error.ts";
import { DONE, type StreamPiece } from "./door.ts";

/** A client that takes nothing for so long is gone. */
const UNREAD_MILLISECONDS = 120_000;

/** Server-sent events, no faster than the client reads. */
export class EventStream {
  readonly #response: Response;
  readonly #gone: AbortSignal;

  constructor(response: Response, gone: AbortSignal) {
    this.#response = response;
    this.#gone = gone;
  }

  get isOpen(): boolean {
    return this.#response.headersSent;
  }

  async send(pieces: readonly StreamPiece[]): Promise<void> {
    if (pieces.length === 0) return;
    if (!this.isOpen) this.#response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
    if (this.#response.write(pieces.map(textOf).join(""))) return;
    await once(this.#response, "drain", { signal: AbortSignal.any([this.#gone, AbortSignal.timeout(UNREAD_MILLISECONDS)]) });
  }

  end(): void {
    this.#response.end();
  }
}

function textOf(piece: StreamPiece): string {
  if ("comment" in piece) return `: ${piece.comment}\n\n`;
  const data = piece.data === DONE ? "[DONE]" : JSON.stringify(piece.data);
  return piece.event === undefined ? `data: ${data}\n\n` : `event: ${piece.event}\ndata: ${data}\n\n`;
}

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { fileURLToPath } from "node:url";

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Settles when the connection that it came on is gone. */
  readonly gone: Promise<unknown>;
}

/** What the server does with one request. */
export type Reply = (response: ServerResponse) => void | Promise<void>;

/** A real HTTP server in the place of a provider's: says what it is told to, and remembers what it was asked. */
export class ReplayServer {
  readonly requests: SeenRequest[] = [];
  /** How the next requests are answered; the last one stays. */
  replies: Reply[] = [];
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #gone = new WeakMap<Socket, Promise<unknown>>();
  /** Paths that are answered the same way whatever is played. */
  readonly #fixed: Readonly<Record<string, unknown>>;

  constructor(fixed: Readonly<Record<string, unknown>> = {}) {
    this.#fixed = fixed;
  }

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  play(...replies: Reply[]): void {
    this.requests.length = 0;
    this.replies = replies;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0]!;
    const fixed = this.#fixed[path];
    if (fixed !== undefined) return void response.setHeader("content-type", "application/json").end(JSON.stringify(fixed));
    const gone = this.#gone.get(request.socket) ?? new Promise((resolve) => request.socket.once("close", resolve));
    this.#gone.set(request.socket, gone);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    this.requests.push({ path, headers: request.headers, body: Buffer.concat(pieces).toString(), gone });
    const reply = this.replies.length > 1 ? this.replies.shift() : this.replies[0];
    await reply?.(response);
  }
}

export function readFixture(folder: string, name: string): string[] {
  return readLines(fileURLToPath(new URL(`../../../fixtures/${folder}/${name}.chunks.txt`, import.meta.url)));
}

/** One JSON event a line. */
export function readLines(path: string): string[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
}

export function beginStream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  return response;
}

export function errorReply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { frame } from "../adapters/suite/protocols.ts";
import { beginStream, readFixture } from "../adapters/suite/replay-server.ts";

export interface AskedChat {
  readonly body: { readonly model: string; readonly stream?: boolean; readonly messages: readonly { readonly content: string }[] };
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
}

/** A server in the place of a llama-server, for what a real one does not do when it is asked to. */
export class FakeLlama {
  url = "";
  /** What it answers by path and query; a value is sent as JSON. */
  readonly fixed: Record<string, unknown>;
  readonly chats: AskedChat[] = [];
  /** What it does with what has no fixed answer; it is not found where there is nothing. */
  onOther: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** What it does with a chat; it waits for the test where there is nothing. */
  onChat: ((chat: AskedChat) => void) | undefined;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #arrived: (() => void)[] = [];

  constructor(fixed: Record<string, unknown>) {
    this.fixed = fixed;
  }

  /** One of a test, until it is over. */
  static async start(slots: number, fixed: Record<string, unknown> = {}): Promise<FakeLlama> {
    const fake = new FakeLlama({ "/props": { total_slots: slots }, "/v1/models": { data: [{ id: "m" }] }, ...fixed });
    await fake.start();
    onTestFinished(() => fake.stop());
    return fake;
  }

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Resolves with the chat of this number, from 0, once it has been asked. */
  async chat(number: number): Promise<AskedChat> {
    while (this.chats.length <= number) await new Promise<void>((resolve) => this.#arrived.push(resolve));
    return this.chats[number]!;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const value = this.fixed[request.url ?? ""];
    if (value !== undefined) return void response.end(JSON.stringify(value));
    if (request.url !== "/v1/chat/completions") {
      if (this.onOther === undefined) response.writeHead(404).end("{}");
      else this.onOther(request, response);
      return;
    }
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as AskedChat["body"];
    const chat: AskedChat = { body, headers: request.headers, response };
    this.chats.push(chat);
    for (const arrived of this.#arrived.splice(0)) arrived();
    this.onChat?.(chat);
  }
}

const PIECES = readFixture("openai-chat", "text").map(frame);
const BEGINNING = 3;

/** "Hello, world.", whole. */
export function answerChat(chat: AskedChat): void {
  beginChat(chat);
  endChat(chat);
}

/** Its first pieces, without an end. */
export function beginChat({ response }: AskedChat): void {
  beginStream(response).write(PIECES.slice(0, BEGINNING).join(""));
}

export function endChat({ response }: AskedChat): void {
  response.end(`${PIECES.slice(BEGINNING).join("")}data: [DONE]\n\n`);
}

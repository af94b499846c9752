import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { nextStep, type ChatMessage, type Step } from "./next-step.ts";

export const LINE_MODEL = "openai-compatible/lines";
/** Between the pieces of an answer: whoever is killed meanwhile loses an answer of which something was shown. */
const PIECE_MILLISECONDS = 40;

export interface LineModel {
  /** An OpenAI-style base URL, `/v1` included. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * A model that writes lines, a turn each. It keeps nothing between requests: what it answers follows from the conversation that it
 * is sent, so that it may be asked for the same turn as often as anybody likes.
 */
export async function startLineModel(): Promise<LineModel> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      if (request.method === "GET") return void response.end(JSON.stringify({ object: "list", data: [{ id: "lines", object: "model" }] }));
      const { messages } = JSON.parse(body) as { messages: ChatMessage[] };
      void answer(nextStep(messages), messages.length, response);
    });
    // Whoever asked was killed, perhaps: the answer has no reader.
    response.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(step: Step, number: number, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (choice: object, rest: object = {}): void => {
    const chunk = { id: "chat", object: "chat.completion.chunk", created: 1, model: "lines", choices: [{ index: 0, ...choice }], ...rest };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const isDone = "done" in step;
  const words = (isDone ? step.done : step.words).split(/(?<= )/);
  for (const [index, content] of words.entries()) {
    send({ delta: { ...(index === 0 ? { role: "assistant" } : {}), content }, finish_reason: null });
    await sleep(PIECE_MILLISECONDS);
  }
  if (!isDone) {
    const written = { name: "shell_exec", arguments: JSON.stringify({ command: step.command }) };
    const toolCall = { index: 0, id: `call_${number}`, type: "function", function: written };
    send({ delta: { tool_calls: [toolCall] }, finish_reason: null });
  }
  const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
  send({ delta: {}, finish_reason: isDone ? "stop" : "tool_calls" }, { usage });
  response.end("data: [DONE]\n\n");
}

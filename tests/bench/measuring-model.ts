import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface MeasuringModel {
  /** An OpenAI-style base URL, `/v1` included. */
  readonly url: string;
  /** Milliseconds from the end of an answer to the arrival of the next request, for every tool turn since the last call. */
  readonly takeGaps: () => number[];
  readonly close: () => Promise<void>;
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/**
 * A model that costs nothing and measures what surrounds it: it asks for `turns` shell commands, one a turn, then
 * says "done". Speaks streamed OpenAI chat completions, which every agent can be pointed at.
 */
export async function startMeasuringModel(turns: number, command: string): Promise<MeasuringModel> {
  let answeredAt: number | undefined;
  let gaps: number[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const arrivedAt = performance.now();
      if (request.method === "GET") return void response.end(JSON.stringify({ object: "list", data: [{ id: "fake", object: "model" }] }));
      const { messages, tools = [] } = JSON.parse(body) as ChatRequest;
      const done = messages.filter(({ role }) => role === "tool").length;
      if (done > 0 && answeredAt !== undefined) gaps.push(arrivedAt - answeredAt);
      const shell = tools.map((tool) => tool.function.name).find((name) => /^(bash|shell|shell_exec)$/.test(name));
      answer(response, shell !== undefined && done < turns ? { shell, command, number: done } : undefined);
      answeredAt = performance.now();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    takeGaps: () => {
      const taken = gaps;
      gaps = [];
      answeredAt = undefined;
      return taken;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(response: ServerResponse, call: { shell: string; command: string; number: number } | undefined): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (choice: object, rest: object = {}): void => {
    const chunk = { id: "chat", object: "chat.completion.chunk", created: 1, model: "fake", choices: [{ index: 0, ...choice }], ...rest };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  if (call === undefined) send({ delta: { role: "assistant", content: "done" }, finish_reason: null });
  else {
    const written = { name: call.shell, arguments: JSON.stringify({ command: call.command }) };
    const toolCall = { index: 0, id: `call_${call.number}_${Date.now()}`, type: "function", function: written };
    send({ delta: { role: "assistant", content: null, tool_calls: [toolCall] }, finish_reason: null });
  }
  const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
  send({ delta: {}, finish_reason: call === undefined ? "stop" : "tool_calls" }, { usage });
  response.end("data: [DONE]\n\n");
}

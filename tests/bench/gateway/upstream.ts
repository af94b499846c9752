import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider that costs next to nothing: OpenAI's chat completions, streamed, with so many deltas as the model's name says, at its pace. */

const chunk = (choice: object, rest: object = {}): string =>
  `data: ${JSON.stringify({ id: "chat", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, finish_reason: null, ...choice }], ...rest })}\n\n`;
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const end = `${chunk({ delta: {}, finish_reason: "stop" }, { usage })}data: [DONE]\n\n`;

const message = { role: "assistant", content: "done" };
const whole = JSON.stringify({
  id: "chat",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage,
});

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    if (request.method === "GET") return void response.end('{"object":"list","data":[{"id":"one","object":"model"}]}');
    const body = Buffer.concat(pieces).toString("latin1");
    const [, count, milliseconds] = /"model":\s*"slow-(\d+)-every-(\d+)"/.exec(body) ?? [];
    if (/"stream":\s*false/.test(body)) return void response.writeHead(200, { "content-type": "application/json" }).end(whole);
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (count === undefined) return void response.end(chunk({ delta: { role: "assistant", content: "done" } }) + end);
    stream(response, Number(count), Number(milliseconds));
  });
});
server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on("disconnect", () => process.exit());

function stream(response: ServerResponse, count: number, milliseconds: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    // When it was sent, so that whoever gets it knows how long it took.
    response.write(chunk({ delta: { content: ` ${Date.now()}` } }));
    if (++sent < count) return;
    clearInterval(timer);
    response.end(end);
  }, milliseconds);
  response.on("close", () => clearInterval(timer));
}

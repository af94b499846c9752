import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of models behind the gateway that answers one thing and keeps what it was asked. */
export interface RecordingProvider extends AsyncDisposable {
  /** Up to and without `/chat/completions`. */
  readonly url: string;
  /** The bodies of the calls that hold these words. */
  readonly asked: (words: string) => readonly string[];
}

export const RECORDED_ANSWER = "It is on record.";

export async function startRecordingProvider(): Promise<RecordingProvider> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      if (request.method === "GET") return void response.setHeader("content-type", "application/json").end('{"data":[{"id":"recorded"}]}');
      bodies.push(Buffer.concat(pieces).toString());
      response.setHeader("content-type", "text/event-stream");
      for (const choice of [{ delta: { role: "assistant", content: RECORDED_ANSWER } }, { delta: {}, finish_reason: "stop" }])
        response.write(`data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] })}\n\n`);
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      response.end(`data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", choices: [], usage })}\n\ndata: [DONE]\n\n`);
    })();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: (words) => bodies.filter((body) => body.includes(words)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

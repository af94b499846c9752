import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

const LABELS = {
  label: "Charges that are doubled",
  summary: "A retried invoice was charged twice. The worker takes the key from the invoice now.",
  status: "open",
  decisions: ["The key is the invoice's."],
  open_questions: ["What of attempts that have no key?"],
  entities: ["worker"],
};
const NO_SLOT = { subject: "", predicate: "", entities: [] };

export interface LabellingModel {
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => void;
}

/** A server of chat completions whose model labels every session alike. */
export async function startLabellingModel(): Promise<LabellingModel> {
  const server = createServer((request, response) => {
    if (request.method === "GET") return void response.setHeader("content-type", "application/json").end('{"data":[{"id":"labels"}]}');
    void json(request).then((body) => {
      const { response_format: format } = body as { response_format?: { json_schema: { name: string } } };
      const content = JSON.stringify(format?.json_schema.name === "session_labels" ? LABELS : NO_SLOT);
      const events = [
        { choices: [{ index: 0, delta: { content } }] },
        { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 70, completion_tokens: 30 } },
      ];
      response.setHeader("content-type", "text/event-stream");
      return response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    environment: { HLVM_OPENAI_COMPATIBLE_URL: url, HLVM_MEMORY_MODEL: "openai-compatible/labels" },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

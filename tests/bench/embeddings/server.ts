import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { EncodingQueue } from "./encoding-queue.ts";
import { DIMENSIONS, MODEL } from "./sentence-encoder.ts";
import { openTextEncoder } from "./text-encoder.ts";

/** OpenAI's embeddings, on this machine alone, until its standard input closes. `node server.ts NODE_MODULES` */

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** What the request says wrong, in words for who wrote it. */
class BadRequest extends Error {}

/** As many as OpenAI takes. */
const MAXIMUM_TEXTS = 2_048;
const models = JSON.stringify({ object: "list", data: [{ id: MODEL, object: "model", created: 0, owned_by: "google" }] });
const queue = new EncodingQueue(await openTextEncoder(process.argv[2]!));

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  void answerTo(request)
    .catch((thrown: unknown) => failure(thrown))
    .then(({ status, body }) => response.writeHead(status, { "content-type": "application/json" }).end(body));
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/v1`, model: MODEL, dimensions: DIMENSIONS })}\n`);
});
process.stdin.on("close", () => process.exit()).resume();

async function answerTo(request: IncomingMessage): Promise<Answer> {
  const asked = `${request.method} ${request.url}`;
  if (asked === "GET /v1/models") return { status: 200, body: models };
  if (asked !== "POST /v1/embeddings") return error(404, `There is no ${asked} here: ask for POST /v1/embeddings or GET /v1/models.`);
  const { texts, format } = read(
    await json(request).catch(() => {
      throw new BadRequest("The body is not JSON.");
    }),
  );
  const kind = texts.length === 1 ? "asked" : "filling";
  let pieces = 0;
  const data = await Promise.all(
    texts.map(async (text, index) => {
      const encoded = await queue.encode(text, kind);
      pieces += encoded.pieces;
      // Written down one by one: all of a large request at once would hold up a question.
      return JSON.stringify({ object: "embedding", index, embedding: written(encoded.vector, format) });
    }),
  );
  const usage = JSON.stringify({ prompt_tokens: pieces, total_tokens: pieces });
  return { status: 200, body: `{"object":"list","data":[${data.join(",")}],"model":"${MODEL}","usage":${usage}}` };
}

function read(body: unknown): { readonly texts: readonly string[]; readonly format: unknown } {
  const { model, input, encoding_format: format = "float", dimensions = DIMENSIONS } = Object(body) as Record<string, unknown>;
  const texts: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (model !== MODEL) throw new BadRequest(`model has to be "${MODEL}".`);
  if (!texts.every((text) => typeof text === "string" && text !== "")) throw new BadRequest("input has to be a text or texts, none empty.");
  if (texts.length === 0 || texts.length > MAXIMUM_TEXTS) throw new BadRequest(`input has to hold 1 to ${MAXIMUM_TEXTS} texts.`);
  if (format !== "float" && format !== "base64") throw new BadRequest('encoding_format has to be "float" or "base64".');
  if (dimensions !== DIMENSIONS) throw new BadRequest(`dimensions has to be ${DIMENSIONS}.`);
  return { texts: texts as readonly string[], format };
}

function written(vector: Float32Array, format: unknown): string | number[] {
  return format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
}

function failure(thrown: unknown): Answer {
  return thrown instanceof BadRequest ? error(400, thrown.message) : error(500, String(thrown));
}

function error(status: number, message: string): Answer {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return { status, body: JSON.stringify({ error: { message, type, param: null, code: null } }) };
}

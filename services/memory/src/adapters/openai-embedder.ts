import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Embedder } from "../domain/search/embedder.ts";

/** How long a server that failed is left alone. */
const REST_MILLISECONDS = 3_000;
const MAXIMUM_BYTES = 64 * 1024 * 1024;
const MAXIMUM_DIMENSIONS = 8_192;
/** These say that it is the texts; that a key or a model is unknown is not about them. */
const REFUSED = new Set([400, 413, 422]);
/** A llama-server's words for a text that is longer than its batch, which it takes for an error of its own. */
const TOO_LONG = /too (?:large|long)/i;

export interface EmbeddingServer {
  /** Up to and without `/embeddings`. */
  readonly url: string;
  readonly model: string;
  /** Empty where the server wants none. */
  readonly key: string;
}

/** Vectors from a server that speaks OpenAI's `/embeddings`: a llama-server, a provider, or this mesh's own door for programs. */
export class OpenAiEmbedder implements Embedder {
  readonly model: string;
  readonly #server: EmbeddingServer;
  #restUntil = 0;

  constructor(server: EmbeddingServer) {
    this.#server = server;
    this.model = server.model;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    if (performance.now() < this.#restUntil) throw unavailable();
    try {
      const response = await this.#ask(texts, signal);
      const answer = await readAll(response);
      if (response.ok) return vectorsOf(answer, texts.length);
      const cause = new Error(`HTTP ${response.status}: ${answer.slice(0, 300)}`);
      throw REFUSED.has(response.status) || TOO_LONG.test(answer) ? refused(cause) : unavailable(cause);
    } catch (thrown) {
      if (thrown instanceof HlvmError && thrown.reason === "embeddings_refused") throw thrown;
      if (isFailure(signal)) this.#restUntil = performance.now() + REST_MILLISECONDS;
      throw thrown instanceof HlvmError ? thrown : unavailable(thrown);
    }
  }

  #ask(input: readonly string[], signal: AbortSignal): Promise<Response> {
    const { url, model, key } = this.#server;
    return fetch(`${url.replace(/\/+$/, "")}/embeddings`, {
      method: "POST",
      signal,
      redirect: "error",
      headers: {
        "content-type": "application/json",
        // Unpacking a compressed answer costs fetch tens of milliseconds.
        "accept-encoding": "identity",
        ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, input, encoding_format: "float" }),
    });
  }
}

/** It is none where whoever asked has gone; that it took too long is. */
function isFailure({ aborted, reason }: AbortSignal): boolean {
  return !aborted || (reason as Error | undefined)?.name === "TimeoutError";
}

async function readAll({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > MAXIMUM_BYTES) throw unavailable(new Error(`its answer has more than ${MAXIMUM_BYTES} bytes`));
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function vectorsOf(answer: string, count: number): number[][] {
  const { data } = JSON.parse(answer) as { readonly data?: readonly { readonly index?: unknown; readonly embedding?: unknown }[] };
  const vectors: number[][] = [];
  for (const [place, item] of (Array.isArray(data) ? data : []).entries()) {
    const index = typeof item?.index === "number" ? item.index : place;
    if (isVector(item?.embedding)) vectors[index] = item.embedding;
  }
  const isWhole = vectors.length === count && Object.keys(vectors).length === count;
  if (isWhole && vectors.every(({ length }) => length === vectors[0]!.length)) return vectors;
  throw unavailable(new Error("it did not answer with one vector of numbers for each text"));
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.length <= MAXIMUM_DIMENSIONS && value.every((one) => Number.isFinite(one));
}

function refused(cause: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "embeddings_refused",
    message: "The server of embeddings took none of these texts.",
    advice: "The log of memory has its words.",
    cause,
  });
}

function unavailable(cause?: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "embeddings_unavailable",
    message: "The server of embeddings gives no vectors.",
    advice:
      "Check that what HLVM_EMBEDDINGS_URL names is up and takes HLVM_EMBEDDINGS_MODEL and HLVM_EMBEDDINGS_KEY; memory's log says more.",
    cause,
  });
}

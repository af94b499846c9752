import { believableUsage } from "../../domain/believable-usage.ts";
import { ModelError } from "../../domain/model-error.ts";
import type { Embeddings, EmbeddingQuestion, Provider } from "../../domain/provider.ts";
import { askJson } from "../ask-json.ts";
import { Exchange } from "../exchange.ts";

export interface EmbeddingServers {
  /** As errors and logs call the provider. */
  readonly name: string;
  /** Those that have a model, up to and without `/embeddings`; the next is asked where one cannot be reached. */
  readonly baseUrls: (model: string) => readonly string[] | Promise<readonly string[]>;
  /** Empty where the server wants none. */
  readonly apiKey: string;
}

interface Answered {
  readonly data?: readonly { readonly index?: number; readonly embedding?: unknown }[];
  readonly usage?: { readonly prompt_tokens?: number };
}

/** Lets a provider answer OpenAI's `/embeddings` besides what it does. */
export function withEmbeddings<P extends Provider>(provider: P, servers: EmbeddingServers): P & Required<Pick<Provider, "embed">> {
  let next = 0;
  const embed = async (question: EmbeddingQuestion, signal: AbortSignal): Promise<Embeddings> => {
    const baseUrls = await servers.baseUrls(question.model);
    const first = next++;
    for (let tried = 1; ; tried++) {
      try {
        return await ask(servers, baseUrls[(first + tried) % baseUrls.length]!, question, signal);
      } catch (thrown) {
        const isPassing = thrown instanceof ModelError && thrown.class === "transient";
        if (!isPassing || tried === baseUrls.length) throw thrown;
      }
    }
  };
  return Object.assign(provider, { embed });
}

async function ask(
  { name, apiKey }: EmbeddingServers,
  baseUrl: string,
  { model, texts, dimensions }: EmbeddingQuestion,
  signal: AbortSignal,
): Promise<Embeddings> {
  const exchange = new Exchange(name, signal, () => undefined);
  try {
    const answer = await askJson<Answered>(exchange, {
      provider: name,
      url: `${baseUrl.replace(/\/+$/, "")}/embeddings`,
      headers: apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
      body: { model, input: texts, encoding_format: "float", dimensions },
    });
    return { vectors: vectorsOf(name, answer, texts.length), input: inputOf(answer) };
  } catch (thrown) {
    throw exchange.failure(thrown);
  } finally {
    exchange.close();
  }
}

function vectorsOf(provider: string, { data }: Answered, count: number): number[][] {
  const vectors: number[][] = [];
  for (const [place, { index = place, embedding }] of (Array.isArray(data) ? data : []).entries())
    if (Array.isArray(embedding) && embedding.every((value) => typeof value === "number")) vectors[index] = embedding;
  if (vectors.length === count && Object.keys(vectors).length === count) return vectors;
  throw new ModelError({
    class: "permanent",
    reason: "embeddings_malformed",
    message: `${provider} did not answer with one vector of numbers for each text.`,
    advice: "Check that the model is one for embeddings.",
    provider,
  });
}

function inputOf({ usage }: Answered): number | undefined {
  const input = usage?.prompt_tokens;
  if (input === undefined || input <= 0) return undefined;
  return believableUsage({ input, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 })?.input;
}

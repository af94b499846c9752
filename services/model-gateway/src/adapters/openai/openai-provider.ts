import type OpenAI from "openai";
import type { Delta, Generation } from "../../domain/generation.ts";
import { describeHosted, HOSTED_MODELS } from "../../domain/hosted-models.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { Provider } from "../../domain/provider.ts";
import { countInExchange } from "../count-in-exchange.ts";
import { Exchange } from "../exchange.ts";
import { watchedFetch, type FetchedBy } from "../watched-fetch.ts";
import { OPENAI } from "./openai-options.ts";
import { openaiCount, openaiRequest } from "./openai-request.ts";
import { readOpenaiStream } from "./openai-stream.ts";

export interface OpenaiSettings {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly silenceMilliseconds?: number;
}

/** OpenAI's Responses API. Its SDK takes 35 MB, so it is loaded with the first request. */
export class OpenaiProvider implements Provider {
  readonly #settings: OpenaiSettings;
  #client: Promise<OpenAI> | undefined;

  constructor(settings: OpenaiSettings) {
    this.#settings = settings;
  }

  list(): Promise<readonly ModelDescription[]> {
    return Promise.resolve(HOSTED_MODELS.openai);
  }

  describe(name: string): Promise<ModelDescription> {
    return Promise.resolve(describeHosted("openai", name));
  }

  async *generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    const loaded = await this.#load();
    const exchange = new Exchange(OPENAI, signal, heard, this.#settings.silenceMilliseconds);
    try {
      const client = loaded.withOptions({ fetch: watchedFetch(this.#by, exchange, "stream") });
      const events = await client.responses.create(openaiRequest(generation), { signal: exchange.signal });
      yield* readOpenaiStream(generation.model, events);
      exchange.throwIfEnded();
    } catch (thrown) {
      throw exchange.failure(thrown);
    } finally {
      exchange.close();
    }
  }

  countTokens(generation: Generation, signal: AbortSignal): Promise<number> {
    return countInExchange(OPENAI, signal, async (exchange) => {
      const client = (await this.#load()).withOptions({ fetch: watchedFetch(this.#by, exchange, "json") });
      const counted = await client.responses.inputTokens.count(openaiCount(generation), { signal: exchange.signal });
      return counted.input_tokens;
    });
  }

  get #by(): FetchedBy {
    return { provider: OPENAI, authorization: { authorization: `Bearer ${this.#settings.apiKey}` } };
  }

  #load(): Promise<OpenAI> {
    this.#client ??= import("openai").then(
      ({ OpenAI: Client }) =>
        new Client({
          apiKey: this.#settings.apiKey,
          baseURL: this.#settings.baseUrl,
          organization: null,
          project: null,
          maxRetries: 0,
          logLevel: "off",
        }),
    );
    return this.#client;
  }
}

import type Anthropic from "@anthropic-ai/sdk";
import type { Delta, Generation } from "../../domain/generation.ts";
import { describeHosted, HOSTED_MODELS } from "../../domain/hosted-models.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { Provider } from "../../domain/provider.ts";
import { countInExchange } from "../count-in-exchange.ts";
import { Exchange } from "../exchange.ts";
import { watchedFetch, type FetchedBy } from "../watched-fetch.ts";
import { ANTHROPIC } from "./anthropic-options.ts";
import { anthropicCount, anthropicRequest } from "./anthropic-request.ts";
import { readAnthropicStream } from "./anthropic-stream.ts";

export interface AnthropicSettings {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly silenceMilliseconds?: number;
}

/** Anthropic's Messages API. Its SDK takes 25 MB, so it is loaded with the first request. */
export class AnthropicProvider implements Provider {
  readonly #settings: AnthropicSettings;
  #client: Promise<Anthropic> | undefined;

  constructor(settings: AnthropicSettings) {
    this.#settings = settings;
  }

  list(): Promise<readonly ModelDescription[]> {
    return Promise.resolve(HOSTED_MODELS.anthropic);
  }

  describe(name: string): Promise<ModelDescription> {
    return Promise.resolve(describeHosted("anthropic", name));
  }

  async *generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    const loaded = await this.#load();
    const exchange = new Exchange(ANTHROPIC, signal, heard, this.#settings.silenceMilliseconds);
    try {
      const client = loaded.withOptions({ fetch: watchedFetch(this.#by, exchange, "stream") });
      const events = await client.messages.create(anthropicRequest(generation), { signal: exchange.signal });
      yield* readAnthropicStream(generation.model, events);
      exchange.throwIfEnded();
    } catch (thrown) {
      throw exchange.failure(thrown);
    } finally {
      exchange.close();
    }
  }

  countTokens(generation: Generation, signal: AbortSignal): Promise<number> {
    return countInExchange(ANTHROPIC, signal, async (exchange) => {
      const client = (await this.#load()).withOptions({ fetch: watchedFetch(this.#by, exchange, "json") });
      const counted = await client.messages.countTokens(anthropicCount(generation), { signal: exchange.signal });
      return counted.input_tokens;
    });
  }

  get #by(): FetchedBy {
    return { provider: ANTHROPIC, authorization: { "x-api-key": this.#settings.apiKey } };
  }

  #load(): Promise<Anthropic> {
    this.#client ??= import("@anthropic-ai/sdk").then(
      ({ Anthropic: Client }) =>
        new Client({ apiKey: this.#settings.apiKey, baseURL: this.#settings.baseUrl, maxRetries: 0, logLevel: "off" }),
    );
    return this.#client;
  }
}

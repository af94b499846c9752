import type { Delta, Generation } from "../../domain/generation.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { ModelError } from "../../domain/model-error.ts";
import type { Provider } from "../../domain/provider.ts";
import { countLlamaTokens } from "./count-llama-tokens.ts";
import { LlamaInstance } from "./llama-instance.ts";
import { LlamaPool } from "./llama-pool.ts";

const DOWN = new Set(["provider_unreachable", "connection_lost"]);

export interface LlamaSettings {
  /** Each up to and without `/v1`. */
  readonly urls: readonly string[];
  readonly silenceMilliseconds?: number;
}

/** One or more llama-servers of one's own. */
export class LlamaProvider implements Provider {
  readonly #pool: LlamaPool;

  constructor(settings: LlamaSettings) {
    this.#pool = new LlamaPool(settings.urls.map((url) => new LlamaInstance(url, settings.silenceMilliseconds)));
  }

  async list(): Promise<readonly ModelDescription[]> {
    const instances = await this.#pool.instances();
    const working = instances.filter((instance) => instance.failure === undefined);
    const failure = instances.find((instance) => instance.failure !== undefined)?.failure;
    if (working.length === 0 && failure !== undefined) throw failure;
    const models = working.flatMap((instance) => instance.models);
    return models.filter((model, index) => models.findIndex(({ name }) => name === model.name) === index);
  }

  async describe(name: string): Promise<ModelDescription | undefined> {
    return (await this.list()).find((model) => model.name === name);
  }

  /** Takes no slot: a server counts beside what it generates. */
  async countTokens(generation: Generation, signal: AbortSignal): Promise<number | undefined> {
    const instance = (await this.#pool.instances()).find((each) => each.serves(generation.model));
    return instance === undefined ? undefined : countLlamaTokens(instance.url, generation, signal);
  }

  async *generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    const instance = await this.#pool.acquire(generation.model, signal, heard);
    try {
      yield* instance.provider.generate(generation, signal, heard);
    } catch (thrown) {
      // A 500 may be the model's own output that it could not parse: that says nothing of the server's health.
      if (thrown instanceof ModelError && DOWN.has(thrown.reason)) instance.doubt(thrown);
      throw thrown;
    } finally {
      this.#pool.release(instance);
    }
  }
}

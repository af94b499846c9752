import type { Delta, Generation } from "../../domain/generation.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { ModelError } from "../../domain/model-error.ts";
import type { NamedAnswer, Provider } from "../../domain/provider.ts";
import type { Keeping } from "./llama-instance.ts";
import { LlamaProvider } from "./llama-provider.ts";

const LOCAL = "local";
const ABSENT = new Set(["provider_unreachable", "connection_lost"]);

/** The llama-server of this machine, at one address. Where it is not there, nothing else is asked in its place. */
export class LocalProvider implements Provider {
  readonly #url: string;
  readonly #llama: LlamaProvider;

  constructor(url: string, keeping?: Keeping) {
    this.#url = url;
    this.#llama = new LlamaProvider({ urls: [url], keeping });
  }

  list(): Promise<readonly ModelDescription[]> {
    return this.#own(() => this.#llama.list());
  }

  describe(name: string): Promise<ModelDescription | undefined> {
    return this.#own(() => this.#llama.describe(name));
  }

  countTokens(generation: Generation, signal: AbortSignal): Promise<number | undefined> {
    return this.#own(() => this.#llama.countTokens(generation, signal));
  }

  async *resume(named: NamedAnswer, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    try {
      yield* this.#llama.resume(named, signal, heard);
    } catch (thrown) {
      throw this.#owned(thrown);
    }
  }

  /** Ends what a gateway that is gone has left there. */
  sweep(): Promise<void> {
    return this.#llama.sweep();
  }

  async *generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    try {
      yield* this.#llama.generate(generation, signal, heard);
    } catch (thrown) {
      throw this.#owned(thrown);
    }
  }

  async #own<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (thrown) {
      throw this.#owned(thrown);
    }
  }

  /** A failure of the pool, as one of this machine's server. */
  #owned(thrown: unknown): unknown {
    if (!(thrown instanceof ModelError)) return thrown;
    const isAbsent = ABSENT.has(thrown.reason);
    return new ModelError({
      class: thrown.class,
      code: thrown.code,
      reason: thrown.reason,
      message: isAbsent ? `No llama-server answers at ${this.#url}.` : thrown.message,
      advice: isAbsent ? "`hlvm model serve PATH.gguf` starts one; or take another model." : thrown.advice,
      provider: LOCAL,
      providerCode: thrown.providerCode,
      retryAfterMilliseconds: thrown.retryAfterMilliseconds,
      cause: thrown,
    });
  }
}

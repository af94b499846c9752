import type { Delta, Generation } from "./generation.ts";
import type { ModelDescription } from "./model.ts";

/** Texts to be made into vectors. */
export interface EmbeddingQuestion {
  /** The name within the provider. */
  readonly model: string;
  readonly texts: readonly string[];
  /** Of a vector; undefined: as the model has them. */
  readonly dimensions: number | undefined;
}

/** An answer that was asked for with an `answerName`. */
export interface NamedAnswer {
  /** The model's name within the provider. */
  readonly model: string;
  readonly answerName: string;
}

export interface Embeddings {
  /** In the order of the texts. */
  readonly vectors: readonly (readonly number[])[];
  /** Tokens; undefined where the provider does not tell. */
  readonly input: number | undefined;
}

/** Where models come from. Whatever it throws of its own accord is a `ModelError`. */
export interface Provider {
  /** The models worth showing to a person, the one to take by default first; it may take others too. */
  list(signal: AbortSignal): Promise<readonly ModelDescription[]>;

  /** One model, or undefined where there is none of that name as far as can be told before it is called. */
  describe(name: string, signal: AbortSignal): Promise<ModelDescription | undefined>;

  /**
   * One request, once: no retries. The last delta is `finish`; a stream that ends without one was cut. Tool calls come
   * complete. Aborting the signal ends the exchange with the provider at once.
   * @param heard called for whatever shows that the call goes on, whether or not a delta comes of it
   */
  generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncIterable<Delta>;

  /**
   * An answer from its beginning that a server goes on with, begun by a gateway that is gone. Left out where none can.
   * @throws HlvmError `resume_not_possible`
   */
  resume?(named: NamedAnswer, signal: AbortSignal, heard: () => void): AsyncIterable<Delta>;

  /**
   * What the request would count as input, once: no retries, and no model answers. Left out where the provider cannot tell.
   * @returns undefined where this one of its servers cannot
   */
  countTokens?(generation: Generation, signal: AbortSignal): Promise<number | undefined>;

  /** One vector for each text, once: no retries. Left out where the provider has no models for it. */
  embed?(question: EmbeddingQuestion, signal: AbortSignal): Promise<Embeddings>;
}

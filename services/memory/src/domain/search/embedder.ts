/** A model that turns texts into vectors: those of texts that mean alike point the same way. */
export interface Embedder {
  /** Vectors of two models cannot be compared. */
  readonly model: string;
  /**
   * One vector for each text.
   * @throws HlvmError `embeddings_refused` where the model takes none of these texts; `embeddings_unavailable`
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

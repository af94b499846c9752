/** An image or a document as a session keeps it: once, however often it was attached. */
export interface AttachedFile {
  /** Of the data, hex. */
  readonly sha256: string;
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** What sessions keep beside their events. */
export interface AttachedFiles {
  /** Those of a session that it has, by their hashes. */
  read(sessionId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Bytes of all that a session has. */
  size(sessionId: string): Promise<number>;
}

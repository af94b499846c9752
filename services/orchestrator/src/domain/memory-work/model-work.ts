/** What memory asks about: the turns of a session as JSON, or a fact. */
export interface WorkItem {
  readonly claimId: string;
  readonly kind: "session" | "fact";
  readonly text: string;
}

/** What waits in memory for a model, of one person. All throw HlvmErrors. */
export interface ModelWork {
  /** @returns undefined where nothing waits */
  claim(maxCharacters: number, seconds: number, signal: AbortSignal): Promise<WorkItem | undefined>;
  /** @returns whether memory took the answer */
  put(claimId: string, model: string, answerJson: string, signal: AbortSignal): Promise<boolean>;
  release(claimId: string): Promise<void>;
}

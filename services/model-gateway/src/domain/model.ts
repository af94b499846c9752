export type ModelTier = "weak" | "mid" | "frontier";
/** `chat` is never handed tools. */
export type ModelCapability = "chat" | "tool" | "agent";

/** What is known of one model of a provider. */
export interface ModelDescription {
  /** Within the provider. */
  readonly name: string;
  readonly tier: ModelTier;
  readonly capability: ModelCapability;
  /** Tokens. */
  readonly contextWindow: number;
  /** Left out: it is not known to, and is given none. */
  readonly takesImages?: boolean;
  /** PDF; as above. */
  readonly takesDocuments?: boolean;
  /** Nobody tells what it can do: what stands here is taken for it until its server says otherwise. */
  readonly isGuess?: boolean;
}

export interface Model extends ModelDescription {
  /** `provider/name`. */
  readonly id: string;
  readonly provider: string;
  readonly isDefault: boolean;
  /** Whether its key or URL is set; if not, `advice` says what to set. */
  readonly isAvailable: boolean;
  readonly advice: string;
}

export const SESSION_STATUSES = ["done", "open", "blocked", "abandoned", "unclear"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** What a model says of a session. */
export interface SessionLabels {
  /** A few words. */
  readonly label: string;
  readonly summary: string;
  /** How it stood at its end. */
  readonly status: SessionStatus;
  readonly decisions: readonly string[];
  readonly openQuestions: readonly string[];
  /** Names that stand in what was said. */
  readonly entities: readonly string[];
}

/** In characters, and in items. */
export const LABEL_LIMITS = { label: 100, summary: 800, item: 240, entity: 80, items: 8, entities: 20 } as const;

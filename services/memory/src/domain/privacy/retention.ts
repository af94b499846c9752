export const RETENTION_SCOPES = ["personal", "team", "project", "log"] as const;
export type RetentionScope = (typeof RETENTION_SCOPES)[number];

export interface Retention {
  readonly scope: RetentionScope;
  /** Since what is kept has ended, or was logged. */
  readonly days: number;
  readonly changedBy: string;
  readonly changedAt: Date;
}

export interface RetentionStore {
  list(organization: string): Promise<readonly Retention[]>;
  /** @param days 0: for good */
  set(organization: string, scope: RetentionScope, days: number, changedBy: string): Promise<void>;
}

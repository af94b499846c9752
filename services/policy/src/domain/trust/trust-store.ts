import type { AuditEvent } from "../audit/audit-event.ts";

/** A file of a workspace, by its very text. */
export interface TrustedFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** SHA-256 of the text, hex. */
  readonly sha256: string;
  readonly text: string;
}

export interface TrustedWorkspace {
  /** As the sandbox service names it. */
  readonly workspace: string;
  readonly files: readonly TrustedFile[];
  readonly trustedAt: Date;
}

/** Whose trust it is: it is nobody else's, not even within one organization. */
export interface Truster {
  readonly organization: string;
  readonly id: string;
}

/** The event that belongs to a change is committed with it. */
export interface TrustStore {
  find(truster: Truster, workspace: string): Promise<TrustedWorkspace | undefined>;
  /** The one that was trusted last first, without texts. */
  list(truster: Truster): Promise<TrustedWorkspace[]>;
  /** In place of what was trusted of this workspace before. */
  put(truster: Truster, workspace: string, files: readonly TrustedFile[], event: AuditEvent): Promise<TrustedWorkspace>;
  /** @returns false where it was not trusted; then there is no event either */
  remove(truster: Truster, workspace: string, event: AuditEvent): Promise<boolean>;
}

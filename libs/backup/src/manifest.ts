/** What is in a backup, by path within it; `/` between names. */
export type BackupEntry =
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "file"; readonly mode: number; readonly bytes: number; readonly sha256: string };

/** Written last: a folder without it is no backup. */
export interface BackupManifest {
  readonly format: typeof BACKUP_FORMAT;
  /** ISO 8601: the data are as they were then, or a moment later. */
  readonly createdAt: string;
  /** PostgreSQL's major version, whose files these are. */
  readonly postgres: string;
  /** As `process.platform` and `process.arch` say: PostgreSQL's files are of no other kind of machine. */
  readonly machine: string;
  /** Each folder before what is in it. */
  readonly entries: Readonly<Record<string, BackupEntry>>;
}

export const BACKUP_FORMAT = 1;
export const MANIFEST_FILE = "manifest.json";
/** Beside it, what is backed up. */
export const CONTENT_FOLDER = "hlvm";

export function thisMachine(): string {
  return `${process.platform}-${process.arch}`;
}

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FoundFile } from "@hlvm/transcripts/find-transcripts";
import type { GenericFields } from "@hlvm/transcripts/generic-turns";
import { READER_VERSION } from "@hlvm/transcripts/reader-version";
import { isScanDue, type SourceWatch } from "./source-watch.ts";

/** What a person let be read. */
export interface Source {
  readonly tool: string;
  readonly folders: readonly string[];
  /** Folders whose sessions are not imported. */
  readonly leftOut: readonly string[];
  /** Of a tool that HLVM does not know. */
  readonly fields: GenericFields | undefined;
  readonly isEnabled: boolean;
  /** Milliseconds since 1970; 0: never. */
  readonly scannedAt: number;
}

export interface KnownFile {
  readonly bytes: number;
  readonly changedAt: number;
  /** In a row, in the state that the file is in. */
  readonly failures: number;
  readonly failedAt: number;
  readonly reason: string;
}

export interface FailedFile {
  readonly path: string;
  readonly failures: number;
  readonly reason: string;
}

/** How far a session was sent: so many turns, and the hash of all of them. */
export interface SentSession {
  readonly turns: number;
  readonly hash: string;
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS source (tool TEXT PRIMARY KEY, folders TEXT NOT NULL, left_out TEXT NOT NULL, fields TEXT, enabled INTEGER NOT NULL,
    scanned_at INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE IF NOT EXISTS file (tool TEXT NOT NULL, path TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
    changed_at INTEGER NOT NULL, failures INTEGER NOT NULL, failed_at INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (tool, path)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS session (tool TEXT NOT NULL, session TEXT NOT NULL, turns INTEGER NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (tool, session)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS watch (tool TEXT PRIMARY KEY, minutes INTEGER NOT NULL, tried_at INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '');`;
const BUSY_MILLISECONDS = 5_000;
/** Of the files that fail, so many are told of. */
const MOST_FAILED = 20;

/**
 * Which transcripts of this machine are imported into one mesh, and how far that is: `sources/NAME.db` in the HLVM directory. To lose it
 * costs a scan of everything, and nothing is stored twice.
 */
export class SourceBook {
  readonly #database: DatabaseSync;

  static fileOf(directory: string, destination: string): string {
    return join(directory, "sources", `${encodeURIComponent(destination)}.db`);
  }

  /** @param destination the profile's name */
  constructor(directory: string, destination: string) {
    const file = SourceBook.fileOf(directory, destination);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#database = new DatabaseSync(file, { timeout: BUSY_MILLISECONDS });
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${TABLES}`);
    const version = this.#database.prepare("PRAGMA user_version").get()?.["user_version"];
    if (version !== READER_VERSION) this.#database.exec(`UPDATE file SET changed_at = 0; PRAGMA user_version = ${READER_VERSION}`);
  }

  list(): Source[] {
    return this.#database.prepare("SELECT * FROM source ORDER BY tool").all().map(sourceOf);
  }

  put({ tool, folders, leftOut, fields }: Pick<Source, "tool" | "folders" | "leftOut" | "fields">): void {
    this.#database
      .prepare(
        `INSERT INTO source (tool, folders, left_out, fields, enabled) VALUES (?, ?, ?, ?, 1)
         ON CONFLICT (tool) DO UPDATE SET folders = excluded.folders, left_out = excluded.left_out, fields = excluded.fields, enabled = 1`,
      )
      .run(tool, JSON.stringify(folders), JSON.stringify(leftOut), fields === undefined ? null : JSON.stringify(fields));
    // What was left out before may be wanted now.
    this.#database.prepare("UPDATE file SET changed_at = 0 WHERE tool = ?").run(tool);
    this.#database.prepare("DELETE FROM session WHERE tool = ?").run(tool);
  }

  /** @returns whether there was one */
  disable(tool: string): boolean {
    return this.#database.prepare("UPDATE source SET enabled = 0 WHERE tool = ?").run(tool).changes > 0;
  }

  /** @param minutes 0: it is not watched any more */
  setWatch(tool: string, minutes: number): void {
    this.#database.prepare("DELETE FROM watch WHERE tool = ?").run(tool);
    if (minutes > 0) this.#database.prepare("INSERT INTO watch (tool, minutes) VALUES (?, ?)").run(tool, minutes);
  }

  watch(tool: string): SourceWatch | undefined {
    const row = this.#database.prepare("SELECT * FROM watch WHERE tool = ?").get(tool);
    if (row === undefined) return undefined;
    const { minutes, tried_at: triedAt, failures, reason } = row;
    return { minutes, triedAt, failures, reason } as unknown as SourceWatch;
  }

  /** The sources that are watched and whose time has come. */
  due(now: number): Source[] {
    return this.list().filter(({ tool, isEnabled }) => {
      const watch = isEnabled ? this.watch(tool) : undefined;
      return watch !== undefined && isScanDue(watch, now);
    });
  }

  /** @param reason why the scan failed; empty where it did not */
  setTried(tool: string, at: number, reason: string): void {
    const failures = reason === "" ? "0" : "failures + 1";
    this.#database.prepare(`UPDATE watch SET tried_at = ?, reason = ?, failures = ${failures} WHERE tool = ?`).run(at, reason, tool);
  }

  setScanned(tool: string, at: number): void {
    this.#database.prepare("UPDATE source SET scanned_at = ? WHERE tool = ?").run(at, tool);
  }

  /** @returns undefined for a file that is new, or another under the old name */
  file(tool: string, { path, device, inode }: FoundFile): KnownFile | undefined {
    const row = this.#database
      .prepare("SELECT * FROM file WHERE tool = ? AND path = ? AND device = ? AND inode = ?")
      .get(tool, path, device, inode);
    if (row === undefined) return undefined;
    const { bytes, changed_at: changedAt, failures, failed_at: failedAt, reason } = row;
    return { bytes, changedAt, failures, failedAt, reason } as unknown as KnownFile;
  }

  putFile(
    tool: string,
    { path, device, inode, bytes, changedAt }: FoundFile,
    failed: Pick<KnownFile, "failures" | "failedAt" | "reason">,
  ): void {
    this.#database
      .prepare(
        "INSERT OR REPLACE INTO file (tool, path, device, inode, bytes, changed_at, failures, failed_at, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(tool, path, device, inode, bytes, changedAt, failed.failures, failed.failedAt, failed.reason);
  }

  /** The first of them. */
  failed(tool: string): FailedFile[] {
    const rows = this.#database
      .prepare(`SELECT path, failures, reason FROM file WHERE tool = ? AND failures > 0 ORDER BY path LIMIT ${MOST_FAILED}`)
      .all(tool);
    return rows as unknown as FailedFile[];
  }

  countFailed(tool: string): number {
    return Number(this.#database.prepare("SELECT count(*) AS failed FROM file WHERE tool = ? AND failures > 0").get(tool)?.["failed"]);
  }

  /** Failures of files that are no more are nobody's concern. */
  forgetFailures(tool: string, isGone: (path: string) => boolean): void {
    const gone: string[] = [];
    for (const { path } of this.#database.prepare("SELECT path FROM file WHERE tool = ? AND failures > 0").iterate(tool))
      if (isGone(String(path))) gone.push(String(path));
    for (const path of gone) this.#database.prepare("DELETE FROM file WHERE tool = ? AND path = ?").run(tool, path);
  }

  sent(tool: string, session: string): SentSession {
    const row = this.#database.prepare("SELECT turns, hash FROM session WHERE tool = ? AND session = ?").get(tool, session);
    return (row as unknown as SentSession | undefined) ?? { turns: 0, hash: "" };
  }

  putSent(tool: string, session: string, { turns, hash }: SentSession): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO session (tool, session, turns, hash) VALUES (?, ?, ?, ?)")
      .run(tool, session, turns, hash);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function sourceOf(row: Record<string, unknown>): Source {
  return {
    tool: String(row["tool"]),
    folders: JSON.parse(String(row["folders"])) as string[],
    leftOut: JSON.parse(String(row["left_out"])) as string[],
    fields: typeof row["fields"] === "string" ? (JSON.parse(row["fields"]) as GenericFields) : undefined,
    isEnabled: row["enabled"] === 1,
    scannedAt: Number(row["scanned_at"]),
  };
}

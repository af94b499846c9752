import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const ATTEMPTS = 3;
const PAUSE_MILLISECONDS = 50;
const BUSY_MILLISECONDS = 2_000;

/**
 * Reads another program's SQLite database and never writes to it. While its owner checkpoints, opening may fail for a moment; where it
 * cannot be opened in place, a copy is read, without what its owner has not committed.
 * @param read has no statement open when it yields: what is yielded goes over a network, and its owner could not write as long
 */
export async function* readDatabase<T>(file: string, read: (database: DatabaseSync) => Iterable<T>): AsyncGenerator<T> {
  for (let attempt = 1; ; attempt++) {
    const database = opened(file);
    if (database !== undefined) return yield* closing(database, read);
    if (attempt === ATTEMPTS) break;
    await sleep(PAUSE_MILLISECONDS);
  }
  const folder = mkdtempSync(join(tmpdir(), "hlvm-transcripts-"));
  try {
    const copy = join(folder, basename(file));
    for (const end of ["", "-wal", "-journal"]) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
    yield* closing(new DatabaseSync(copy), read);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function opened(file: string): DatabaseSync | undefined {
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MILLISECONDS });
    try {
      database.prepare("SELECT count(*) FROM sqlite_schema").get();
      return database;
    } catch {
      database.close();
    }
  } catch {
    // The copy's error says why.
  }
  return undefined;
}

function* closing<T>(database: DatabaseSync, read: (database: DatabaseSync) => Iterable<T>): Generator<T> {
  try {
    yield* read(database);
  } finally {
    database.close();
  }
}

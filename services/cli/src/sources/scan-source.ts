import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { FoundFile } from "@hlvm/transcripts/find-transcripts";
import { newTally, type Tally, type TurnReader } from "@hlvm/transcripts/read-turn";
import { sendFile, type SessionBatch } from "./send-file.ts";
import type { KnownFile, Source, SourceBook } from "./source-book.ts";

/** A file that fails as often is left until it changes. */
const MAXIMUM_FAILURES = 5;
const FIRST_PAUSE_MILLISECONDS = 60_000;

export interface Stored {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly isForgotten: boolean;
}

/** Where a source's sessions are. */
export interface Transcripts {
  readonly find: (folder: string) => AsyncIterable<FoundFile>;
  readonly read: TurnReader;
}

export interface ScanPorts {
  readonly book: SourceBook;
  readonly store: (batch: SessionBatch) => Promise<Stored>;
  readonly now: () => number;
  /** Told after each file. */
  readonly onFile: (result: ScanResult) => void;
  readonly signal: AbortSignal;
}

export interface ScanResult extends Tally {
  readonly tool: string;
  files: number;
  unchangedFiles: number;
  failed: number;
  /** Failed before, and not tried again yet. */
  setAside: number;
  sessions: number;
  added: number;
  changed: number;
  unchanged: number;
  /** Batches of sessions that were forgotten. */
  forgotten: number;
}

/** The mesh did not take a batch: the scan ends, and no file is to blame. */
export class SendError extends Error {}

/**
 * Imports what a source's files have that was not imported yet. Begun again after it was cut off anywhere it goes on, and stores nothing
 * twice. A file that cannot be read is counted with its reason, and the others are read.
 * @throws the mesh's error
 */
export async function scanSource(source: Source, { find, read }: Transcripts, ports: ScanPorts): Promise<ScanResult> {
  const result: ScanResult = {
    tool: source.tool,
    files: 0,
    unchangedFiles: 0,
    failed: 0,
    setAside: 0,
    sessions: 0,
    added: 0,
    changed: 0,
    unchanged: 0,
    forgotten: 0,
    ...newTally(),
  };
  for (const folder of source.folders)
    for await (const found of find(folder)) {
      if (ports.signal.aborted) return result;
      result.files++;
      await scanFile(source, found, read, ports, result);
      ports.onFile(result);
    }
  ports.book.forgetFailures(source.tool, isGone);
  ports.book.setScanned(source.tool, ports.now());
  return result;
}

/** The mesh's own sessions are no files. */
function isGone(path: string): boolean {
  return isAbsolute(path) && !existsSync(path);
}

async function scanFile(source: Source, file: FoundFile, read: TurnReader, ports: ScanPorts, result: ScanResult): Promise<void> {
  const { book, now } = ports;
  const { tool, leftOut } = source;
  const known = book.file(tool, file);
  const isSame = known?.bytes === file.bytes && known.changedAt === file.changedAt;
  if (isSame && known.failures === 0) return void result.unchangedFiles++;
  if (isSame && !isDue(known, now())) return void result.setAside++;
  const tally = newTally();
  const send = async (batch: SessionBatch): Promise<void> => {
    const stored = await ports.store(batch).catch((cause: unknown) => {
      throw new SendError("", { cause });
    });
    result.added += stored.added;
    result.changed += stored.changed;
    result.unchanged += stored.unchanged;
    if (stored.isForgotten) result.forgotten++;
  };
  try {
    const sent = await sendFile({ path: file.path, read, tally, leftOut, send, sent: (session) => book.sent(tool, session) });
    for (const [session, how] of sent) book.putSent(tool, session, how);
    result.sessions += sent.size;
    book.putFile(tool, file, { failures: 0, failedAt: 0, reason: "" });
  } catch (thrown) {
    if (thrown instanceof SendError) throw thrown.cause;
    // What its tool takes away meanwhile is no failure.
    if (isGone(file.path)) return;
    const failures = (isSame ? known.failures : 0) + 1;
    book.putFile(tool, file, { failures, failedAt: now(), reason: reasonOf(thrown) });
    result.failed++;
  }
  result.read += tally.read;
  result.notUnderstood += tally.notUnderstood;
  result.dropped += tally.dropped;
}

function isDue({ failures, failedAt }: KnownFile, now: number): boolean {
  // A clock that went back must not keep a file waiting.
  return failures < MAXIMUM_FAILURES && (now < failedAt || now - failedAt >= FIRST_PAUSE_MILLISECONDS * 2 ** failures);
}

function reasonOf(thrown: unknown): string {
  return (thrown instanceof HlvmError || thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 300);
}

import { createHash, type Hash } from "node:crypto";
import { sep } from "node:path";
import { replaceSecretsInTurns } from "@hlvm/redaction/replace-secrets";
import { secretMark } from "@hlvm/redaction/secret-mark";
import type { ReadTurn, Tally, TurnReader } from "@hlvm/transcripts/read-turn";
import type { SentSession } from "./source-book.ts";

/** What one request takes. */
const MAXIMUM_TURNS = 200;
const MAXIMUM_CHARACTERS = 500_000;
const MAXIMUM_TEXT = 40_000;
const MAXIMUM_NAME = 256;
const MAXIMUM_TITLE = 512;
const MAXIMUM_FOLDER = 4_096;

export interface SentTurn extends Pick<ReadTurn, "key" | "speaker" | "saidAt" | "text"> {
  readonly ordinal: number;
}

export interface SessionBatch {
  readonly session: string;
  readonly title: string;
  readonly folder: string;
  readonly turns: readonly SentTurn[];
}

export interface FileToSend {
  readonly path: string;
  readonly read: TurnReader;
  readonly tally: Tally;
  readonly leftOut: readonly string[];
  /** How far a session was sent before. */
  readonly sent: (session: string) => SentSession;
  /** Throws SendError alone. */
  readonly send: (batch: SessionBatch) => Promise<void>;
}

interface Session {
  readonly before: SentSession;
  readonly hash: Hash;
  turns: number;
  waiting: SentTurn[];
  characters: number;
  title: string;
  folder: string;
}

/**
 * Sends what a file holds beyond what was sent before, without secrets. Where something that was sent is not as it was, its session is
 * sent whole: the turns that are the same stay one.
 * @returns how far each session of the file is sent now
 */
export async function sendFile(file: FileToSend): Promise<ReadonlyMap<string, SentSession>> {
  const whole = new Set<string>();
  for (;;) {
    const changed = await sendOnce(file, whole);
    if (changed instanceof Map) return changed;
    whole.add(changed.session);
    Object.assign(file.tally, { read: 0, notUnderstood: 0, dropped: 0 });
  }
}

async function sendOnce(file: FileToSend, whole: ReadonlySet<string>): Promise<Map<string, SentSession> | { readonly session: string }> {
  const sessions = new Map<string, Session>();
  for await (const turn of file.read(file.path, file.tally)) {
    if (file.leftOut.some((folder) => turn.folder === folder || turn.folder?.startsWith(folder + sep) === true)) continue;
    const name = bounded(turn.session);
    const session = sessions.get(name) ?? newSession(whole.has(name) ? { turns: 0, hash: "" } : file.sent(name));
    sessions.set(name, session);
    const sent = await turnToSend(turn, session.turns++);
    session.hash.update(JSON.stringify([sent.key, sent.text]));
    session.title = (await clean(turn.title ?? "")).slice(0, MAXIMUM_TITLE) || session.title;
    session.folder = (await clean(turn.folder ?? "")).slice(0, MAXIMUM_FOLDER) || session.folder;
    if (session.turns === session.before.turns && session.hash.copy().digest("hex") !== session.before.hash) return { session: name };
    if (session.turns <= session.before.turns || sent.text.trim() === "") continue;
    session.waiting.push(sent);
    session.characters += sent.text.length;
    if (session.waiting.length >= MAXIMUM_TURNS || session.characters >= MAXIMUM_CHARACTERS) await flush(name, session, file.send);
  }
  for (const [name, session] of sessions) {
    if (session.turns < session.before.turns) return { session: name };
    if (session.waiting.length > 0) await flush(name, session, file.send);
  }
  return new Map([...sessions].map(([name, { turns, hash }]) => [name, { turns, hash: hash.digest("hex") }]));
}

function newSession(before: SentSession): Session {
  return { before, hash: createHash("sha256"), turns: 0, waiting: [], characters: 0, title: "", folder: "" };
}

async function flush(name: string, session: Session, send: FileToSend["send"]): Promise<void> {
  await send({ session: name, title: session.title, folder: session.folder, turns: session.waiting });
  session.waiting = [];
  session.characters = 0;
}

async function turnToSend({ key, speaker, saidAt, text }: ReadTurn, ordinal: number): Promise<SentTurn> {
  const cleaned = await clean(text);
  const short = cleaned.length > MAXIMUM_TEXT ? `${cleaned.slice(0, MAXIMUM_TEXT - 1).toWellFormed()}…` : cleaned;
  return { key: bounded(key), speaker, saidAt, ordinal, text: short };
}

/** The same text gives the same, or what was sent before would not be known again. */
function clean(text: string): Promise<string> {
  return replaceSecretsInTurns(text.toWellFormed().replaceAll("\0", ""), (kind) => secretMark(kind));
}

/** A name that is too long is told by its beginning and its hash. */
function bounded(name: string): string {
  const wellFormed = name.toWellFormed().replaceAll("\0", "");
  if (wellFormed.length <= MAXIMUM_NAME) return wellFormed;
  return `${wellFormed.slice(0, 180).toWellFormed()}-${createHash("sha256").update(wellFormed).digest("hex")}`;
}

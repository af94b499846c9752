import type { Speaker, Transcript, Turn } from "../domain/transcripts/transcript-store.ts";

export interface TranscriptRow extends Record<string, unknown> {
  tool: string;
  session: string;
  title: string;
  folder: string;
  machine: string;
  cited: number;
  turns: number;
  first_at: Date | null;
  last_at: Date | null;
}

const turnsOf = (what: string): string =>
  `(SELECT ${what} FROM transcript_turn AS counted WHERE counted.transcript_id = transcript.transcript_id)`;

/** Of the table transcript. */
export const TRANSCRIPT_COLUMNS = `tool, session, title, folder, machine, cited, ${turnsOf("count(*)::int")} AS turns,
  ${turnsOf("min(said_at)")} AS first_at, ${turnsOf("max(said_at)")} AS last_at`;

export interface TurnRow extends Record<string, unknown> {
  key: string;
  ordinal: number;
  speaker: Speaker;
  said_at: Date | null;
  text: string;
}

/** Of the table transcript_turn. */
export const TURN_COLUMNS = "key, ordinal, speaker, said_at, text";

export function transcriptOf({ tool, session, title, folder, machine, cited, turns, first_at, last_at }: TranscriptRow): Transcript {
  return { tool, session, title, folder, machine, cited, turns, firstAt: first_at ?? undefined, lastAt: last_at ?? undefined };
}

export function turnOf({ key, ordinal, speaker, said_at, text }: TurnRow): Turn {
  return { key, ordinal, speaker, saidAt: said_at ?? undefined, text };
}

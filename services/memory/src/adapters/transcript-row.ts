import type { Speaker, StoredLabels, Transcript, Turn } from "../domain/transcripts/transcript-store.ts";

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
  labels: (Omit<StoredLabels, "labelledAt"> & { readonly labelledAt: string }) | null;
}

const turnsOf = (what: string): string =>
  `(SELECT ${what} FROM transcript_turn AS counted WHERE counted.transcript_id = transcript.transcript_id)`;

/** Of the table transcript. */
export const TRANSCRIPT_COLUMNS = `tool, session, title, folder, machine, cited, ${turnsOf("count(*)::int")} AS turns,
  ${turnsOf("min(said_at)")} AS first_at, ${turnsOf("max(said_at)")} AS last_at,
  (SELECT jsonb_build_object('label', label, 'summary', summary, 'status', status, 'decisions', decisions, 'openQuestions', open_questions,
     'entities', entities, 'model', model, 'labelledAt', labelled_at, 'isOutdated', EXISTS (SELECT FROM model_work WHERE item_id = transcript_id))
   FROM session_label WHERE session_label.transcript_id = transcript.transcript_id) AS labels`;

export interface TurnRow extends Record<string, unknown> {
  key: string;
  ordinal: number;
  speaker: Speaker;
  said_at: Date | null;
  text: string;
}

/** Of the table transcript_turn. */
export const TURN_COLUMNS = "key, ordinal, speaker, said_at, text";

export function transcriptOf({ first_at: firstAt, last_at: lastAt, labels: found, ...row }: TranscriptRow): Transcript {
  const { tool, session, title, folder, machine, cited, turns } = row;
  const labels = found === null ? undefined : { ...found, labelledAt: new Date(found.labelledAt) };
  return { tool, session, title, folder, machine, cited, turns, firstAt: firstAt ?? undefined, lastAt: lastAt ?? undefined, labels };
}

export function turnOf({ key, ordinal, speaker, said_at, text }: TurnRow): Turn {
  return { key, ordinal, speaker, saidAt: said_at ?? undefined, text };
}

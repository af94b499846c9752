import type { TranscriptName } from "./transcript-store.ts";

/** The web client's path that shows a turn of a session. */
export function transcriptLink({ tool, session }: TranscriptName, ordinal: number): string {
  return `/memory/sources?${new URLSearchParams({ tool, session, turn: String(ordinal) }).toString()}`;
}

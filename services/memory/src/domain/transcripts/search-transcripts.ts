import type { Viewer } from "../viewer.ts";
import type { RankedTurn, TranscriptStore } from "./transcript-store.ts";

/** Turns that are looked at, so that sessions with many that fit do not hide the others. */
const TURNS_A_SESSION = 20;
const EXCERPT_CHARACTERS = 600;

/** The viewer's sessions by the words of a question, best first, each by the turn of it that fits best. */
export async function searchTranscripts(store: TranscriptStore, viewer: Viewer, query: string, limit: number): Promise<RankedTurn[]> {
  const best = new Map<string, RankedTurn>();
  for (const ranked of await store.search(viewer, query, limit * TURNS_A_SESSION)) {
    const session = JSON.stringify([ranked.transcript.tool, ranked.transcript.session]);
    if (!best.has(session)) best.set(session, ranked);
  }
  return [...best.values()]
    .slice(0, limit)
    .map((ranked) => ({ ...ranked, turn: { ...ranked.turn, text: excerptOf(ranked.turn.text, query) } }));
}

/** The part of a text around the first of the question's longer words. */
function excerptOf(text: string, query: string): string {
  if (text.length <= EXCERPT_CHARACTERS) return text;
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(Math.min(...places, text.length) - EXCERPT_CHARACTERS / 4, text.length - EXCERPT_CHARACTERS));
  const from = places.length === 0 ? 0 : start;
  const part = text.slice(from, from + EXCERPT_CHARACTERS).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + EXCERPT_CHARACTERS < text.length ? "…" : ""}`;
}

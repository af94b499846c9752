import { excerptOf } from "./excerpt-of.ts";
import type { Viewer } from "../viewer.ts";
import type { RankedTurn, TranscriptStore } from "./transcript-store.ts";

/** Turns that are looked at, so that sessions with many that fit do not hide the others. */
const TURNS_A_SESSION = 20;

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

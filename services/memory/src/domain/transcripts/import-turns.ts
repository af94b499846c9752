import { storableText } from "../storable-text.ts";
import type { Viewer } from "../viewer.ts";
import type { TranscriptHead, TranscriptStore, Turn, TurnsStored } from "./transcript-store.ts";

const MAXIMUM_TITLE = 512;

/**
 * Stores turns without secrets and without what hides in them, whoever sent them. A key that comes twice counts as it came last; what
 * says nothing is left out.
 */
export async function importTurns(
  store: TranscriptStore,
  viewer: Viewer,
  head: TranscriptHead,
  turns: readonly Turn[],
): Promise<TurnsStored> {
  const clean = new Map<string, Turn>();
  for (const turn of turns) {
    const text = storableText(turn.text);
    if (text !== "") clean.set(turn.key, { ...turn, text });
  }
  if (clean.size === 0) return { added: 0, changed: 0, unchanged: 0, isForgotten: false };
  const firstAsked = [...clean.values()].find(({ speaker }) => speaker === "person")?.text ?? "";
  const clear = { title: titleOf(head.title), firstAsked: titleOf(firstAsked), folder: storableText(head.folder) };
  return store.put(viewer, { ...head, ...clear }, [...clean.values()]);
}

function titleOf(text: string): string {
  return storableText(text).split("\n", 1)[0]!.slice(0, MAXIMUM_TITLE).toWellFormed();
}

import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Viewer } from "../viewer.ts";
import type { Transcript, TranscriptName, TranscriptStore, Turn } from "./transcript-store.ts";

/** Turns of one answer are no more than so many characters together, unless the first alone is. */
const MAXIMUM_CHARACTERS = 400_000;

export interface TranscriptPart {
  readonly transcript: Transcript;
  readonly turns: readonly Turn[];
  /** Of the first turn behind these; 0: there is none. */
  readonly nextOrdinal: number;
}

/** @throws HlvmError `transcript_not_found` */
export async function readTranscript(
  store: TranscriptStore,
  viewer: Viewer,
  name: TranscriptName,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<TranscriptPart> {
  const read = await store.read(viewer, name, from, limit + 1);
  if (read === undefined)
    throw new HlvmError({
      code: "not_found",
      reason: "transcript_not_found",
      message: `There is no session ${name.session} of ${name.tool} among yours.`,
      advice: "`hlvm memory sessions list` shows those that were imported.",
    });
  let characters = 0;
  const turns = read.turns.slice(0, limit).filter((turn, at) => (characters += turn.text.length) <= MAXIMUM_CHARACTERS || at === 0);
  return { transcript: read.transcript, turns, nextOrdinal: read.turns[turns.length]?.ordinal ?? 0 };
}

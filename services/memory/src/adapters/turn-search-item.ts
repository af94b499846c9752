import { audienceOf } from "../domain/audience.ts";
import type { FactOrigin } from "../domain/fact.ts";
import type { SearchItem } from "../domain/search/search-item.ts";
import type { Speaker } from "../domain/transcripts/transcript-store.ts";

const ORIGINS: Readonly<Record<Speaker, FactOrigin>> = {
  person: "user-stated",
  assistant: "model-inferred",
  tool: "system-generated",
  harness: "system-generated",
};

export interface SearchedTurnRow extends Record<string, unknown> {
  turn_id: string;
  organization: string;
  owner: string;
  tool: string;
  session: string;
  ordinal: number;
  speaker: Speaker;
  said_at: Date | null;
  text: string;
}

/** Of transcript_turn joined with transcript. */
export const SEARCHED_TURN_COLUMNS = `turn_id, transcript_turn.organization, transcript_turn.owner, tool, session, ordinal, speaker, said_at, text`;

/** A turn as it is found: by its words, by those beside it and by its session. */
export function turnSearchItem({ organization, owner, ...turn }: SearchedTurnRow): SearchItem {
  return {
    itemId: turn.turn_id,
    kind: "turn",
    organization,
    owner,
    project: "",
    scope: "personal",
    audience: audienceOf(organization, { scope: "personal", owner, project: "" }),
    container: JSON.stringify([turn.tool, turn.session]),
    ordinal: turn.ordinal,
    actor: "",
    saidAt: turn.said_at,
    origin: ORIGINS[turn.speaker],
    text: turn.text,
  };
}

import { citationText, foundSessionsText, sessionText } from "@hlvm/transcripts/sessions-text";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ToolOutcome } from "./tool-outcome.ts";
import { readTranscript } from "./transcripts/read-transcript.ts";
import { searchTranscripts } from "./transcripts/search-transcripts.ts";
import { transcriptLink } from "./transcripts/transcript-link.ts";
import type { TranscriptName, TranscriptStore } from "./transcripts/transcript-store.ts";
import type { Viewer } from "./viewer.ts";

type Given = { readonly query: string; readonly limit?: number } & TranscriptName & { readonly from?: number; readonly turn: number };

const DEFAULT_SESSIONS = 5;
const DEFAULT_TURNS = 10;

const TOOLS: ReadonlyMap<
  string,
  (store: TranscriptStore, viewer: Viewer, given: Given) => Promise<Pick<ToolOutcome, "content" | "summary">>
> = new Map([
  ["recall_sessions", recall],
  ["get_session", get],
  ["cite_session", cite],
]);

export function isTranscriptTool(tool: string): boolean {
  return TOOLS.has(tool);
}

/**
 * Runs a tool for the person's sessions with other agents, with arguments that fit its schema. What is in them came from anywhere: a web
 * page that another agent read says the same in its transcript.
 */
export async function transcriptTool(tool: string, store: TranscriptStore, viewer: Viewer, given: unknown): Promise<ToolOutcome> {
  const outcome = await TOOLS.get(tool)!(store, viewer, given as Given);
  return { success: true, errorCode: "", trust: Trust.EXTERNAL, ...outcome };
}

async function recall(store: TranscriptStore, viewer: Viewer, { query, limit = DEFAULT_SESSIONS }: Given) {
  const found = await searchTranscripts(store, viewer, query, limit);
  return { content: foundSessionsText(found), summary: `${found.length} ${found.length === 1 ? "session" : "sessions"} found` };
}

async function get(store: TranscriptStore, viewer: Viewer, { tool, session, from = 0, limit = DEFAULT_TURNS }: Given) {
  const { transcript, turns, nextOrdinal } = await readTranscript(store, viewer, { tool, session }, { from, limit });
  return { content: sessionText(transcript, turns, nextOrdinal), summary: `${turns.length} turns of ${transcript.title}` };
}

async function cite(store: TranscriptStore, viewer: Viewer, { tool, session, turn }: Given) {
  const { transcript, turns } = await readTranscript(store, viewer, { tool, session }, { from: turn, limit: 1 });
  await store.countCitation(viewer, transcript);
  return { content: citationText(transcript, turns[0], transcriptLink(transcript, turn)), summary: `cited ${transcript.title}` };
}

import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  SessionLabelsSchema,
  SessionStatus as EncodedStatus,
  Speaker as EncodedSpeaker,
  TranscriptSchema,
  TurnSchema,
  type TranscriptService,
  type Turn as EncodedTurn,
} from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import type { SessionStatus } from "@hlvm/transcripts/labels/session-labels";
import type { ProjectStore } from "../domain/projects.ts";
import { MINIMUM_COVERAGE } from "../domain/recall.ts";
import { importTurns } from "../domain/transcripts/import-turns.ts";
import { readTranscript } from "../domain/transcripts/read-transcript.ts";
import { searchTranscripts } from "../domain/transcripts/search-transcripts.ts";
import { transcriptLink } from "../domain/transcripts/transcript-link.ts";
import type { Speaker, StoredLabels, Transcript, TranscriptStore, Turn } from "../domain/transcripts/transcript-store.ts";
import { personsViewer, viewerOf } from "./viewer-of.ts";

const SPEAKERS: Readonly<Record<Speaker, EncodedSpeaker>> = {
  person: EncodedSpeaker.PERSON,
  assistant: EncodedSpeaker.ASSISTANT,
  tool: EncodedSpeaker.TOOL,
  harness: EncodedSpeaker.HARNESS,
};
const STATUSES: Readonly<Record<SessionStatus, EncodedStatus>> = {
  done: EncodedStatus.DONE,
  open: EncodedStatus.OPEN,
  blocked: EncodedStatus.BLOCKED,
  abandoned: EncodedStatus.ABANDONED,
  unclear: EncodedStatus.UNCLEAR,
};
const DEFAULT_SESSIONS = 10;
const DEFAULT_LISTED = 50;
const DEFAULT_TURNS = 50;

export interface TranscriptPorts {
  readonly transcripts: TranscriptStore;
  readonly projects: ProjectStore;
}

export function transcriptMethods({ transcripts, projects }: TranscriptPorts): ServiceImpl<typeof TranscriptService> {
  return {
    importTurns: async ({ tool, session, title, folder, machine, turns }, context) => {
      const viewer = await personsViewer(context, projects, "");
      return importTurns(transcripts, viewer, { tool, session, title, folder, machine }, turns.map(decodeTurn));
    },
    listTranscripts: async ({ tool, text, status: wanted, limit }, context) => {
      const viewer = await viewerOf(context, projects, "");
      const status = (Object.keys(STATUSES) as SessionStatus[]).find((name) => STATUSES[name] === wanted);
      const listed = await transcripts.list(viewer, { tool, text, status, limit: limit || DEFAULT_LISTED });
      return { transcripts: listed.map(encodeTranscript) };
    },
    searchTranscripts: async ({ query, limit }, context) => {
      const viewer = await viewerOf(context, projects, "");
      const found = await searchTranscripts(transcripts, viewer, query, limit || DEFAULT_SESSIONS);
      return {
        found: found.map(({ transcript, turn, score, coverage }) => ({
          transcript: encodeTranscript(transcript),
          turn: encodeTurn(turn),
          score,
          coverage,
          link: transcriptLink(transcript, turn.ordinal),
          gate: MINIMUM_COVERAGE,
        })),
      };
    },
    getTranscript: async ({ tool, session, fromOrdinal, limit }, context) => {
      const viewer = await viewerOf(context, projects, "");
      const range = { from: fromOrdinal, limit: limit || DEFAULT_TURNS };
      const { transcript, turns, nextOrdinal } = await readTranscript(transcripts, viewer, { tool, session }, range);
      return { transcript: encodeTranscript(transcript), turns: turns.map(encodeTurn), nextOrdinal };
    },
    citeTranscript: async ({ tool, session, ordinal }, context) => {
      const viewer = await viewerOf(context, projects, "");
      const { transcript, turns } = await readTranscript(transcripts, viewer, { tool, session }, { from: ordinal, limit: 1 });
      await transcripts.countCitation(viewer, transcript);
      return {
        transcript: encodeTranscript({ ...transcript, cited: transcript.cited + 1 }),
        turn: turns[0] && encodeTurn(turns[0]),
        link: transcriptLink(transcript, turns[0]?.ordinal ?? ordinal),
      };
    },
    listTranscriptSources: async (_request, context) => {
      const sources = await transcripts.sources(await viewerOf(context, projects, ""));
      return {
        sources: sources.map(({ newestTurnAt, importedAt, ...source }) => ({
          ...source,
          newestTurnAt: encodeTime(newestTurnAt ?? undefined),
          importedAt: encodeTime(importedAt),
        })),
      };
    },
    forgetTranscripts: async ({ tool, session }, context) => transcripts.forget(await personsViewer(context, projects, ""), tool, session),
  };
}

function decodeTurn({ key, ordinal, speaker, saidAt, text }: EncodedTurn): Turn {
  const named = (Object.keys(SPEAKERS) as Speaker[]).find((name) => SPEAKERS[name] === speaker)!;
  return { key, ordinal, speaker: named, saidAt: saidAt && timestampDate(saidAt), text };
}

export function encodeTurn({ speaker, saidAt, ...turn }: Turn): EncodedTurn {
  return create(TurnSchema, { ...turn, speaker: SPEAKERS[speaker], saidAt: encodeTime(saidAt) });
}

function encodeTranscript({ firstAt, lastAt, labels, ...transcript }: Transcript) {
  const encoded = labels && encodeLabels(labels);
  return create(TranscriptSchema, { ...transcript, firstAt: encodeTime(firstAt), lastAt: encodeTime(lastAt), labels: encoded });
}

function encodeLabels({ status, decisions, openQuestions, entities, labelledAt, ...labels }: StoredLabels) {
  const lists = { decisions: [...decisions], openQuestions: [...openQuestions], entities: [...entities] };
  return create(SessionLabelsSchema, { ...labels, ...lists, status: STATUSES[status], labelledAt: encodeTime(labelledAt) });
}

function encodeTime(at: Date | undefined): Timestamp | undefined {
  return at === undefined ? undefined : timestampFromDate(at);
}

import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import {
  FoundTranscriptSchema,
  SessionStatus,
  SessionStatusSchema,
  SpeakerSchema,
  TranscriptSchema,
  TranscriptService,
  TurnSchema,
  type FoundTranscript,
  type SessionLabels,
  type Transcript,
} from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { confirm } from "../terminal/confirm.ts";
import { printable, printableLine } from "../terminal/printable.ts";

export interface SessionsListFlags {
  readonly tool?: string;
  readonly text?: string;
  readonly status?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** Of sessions with other agents, as they were imported. */
export async function memorySessionsList(flags: SessionsListFlags, context: CommandContext): Promise<number> {
  const { tool = "", text = "", limit } = flags;
  const status = flags.status === undefined ? undefined : SessionStatus[flags.status.toUpperCase() as keyof typeof SessionStatus];
  const { transcripts } = await withMesh(context, (transport) =>
    createClient(TranscriptService, transport).listTranscripts({ tool, text, status, limit }),
  );
  if (flags.json === true) for (const one of transcripts) process.stdout.write(jsonLine(messageJson(TranscriptSchema, one)));
  else if (transcripts.length > 0)
    process.stdout.write(table(["TOOL", "SESSION", "TURNS", "LAST", "STATUS", "TITLE"], transcripts.map(rowOf)));
  else if (tool + text === "" && status === undefined)
    context.screen.note("No sessions were imported. Begin with: hlvm memory source list");
  else context.screen.note("No imported session is like that.");
  return EXIT_OK;
}

/** A model's label stands in place of what the person asked first. */
function rowOf({ tool, session, turns, lastAt, title, labels }: Transcript): string[] {
  return [tool, session, String(turns), localTime(lastAt), statusOf(labels), labels?.label ?? title];
}

function statusOf(labels: SessionLabels | undefined): string {
  return labels === undefined ? "" : enumWord(SessionStatusSchema, labels.status);
}

/** What a model says of a session, marked as that. */
function labelLines(labels: SessionLabels): string[] {
  const { label, summary, decisions, openQuestions, entities, model, labelledAt, isOutdated } = labels;
  const lists = { Decided: decisions, Open: openQuestions, Names: entities.length === 0 ? [] : [entities.join(", ")] };
  const outdated = isOutdated ? "; the session went on since" : "";
  return [
    `${label} (${statusOf(labels)}), says ${model} on ${localTime(labelledAt)}${outdated}`,
    ...(summary === "" ? [] : [summary]),
    ...Object.entries(lists).flatMap(([name, items]) => items.map((item) => `${name}: ${item}`)),
  ].map((line) => printableLine(line, 1_000));
}

export async function memorySessionsSearch(
  query: string,
  flags: { readonly limit: number; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { found } = await withMesh(context, (transport) =>
    createClient(TranscriptService, transport).searchTranscripts({ query, limit: flags.limit }),
  );
  if (flags.json === true) for (const one of found) process.stdout.write(jsonLine(messageJson(FoundTranscriptSchema, one)));
  else if (found.length === 0) context.screen.note("No imported session holds these words.");
  else process.stdout.write(found.map(foundText).join("\n"));
  return EXIT_OK;
}

function foundText({ transcript, turn }: FoundTranscript): string {
  if (transcript === undefined || turn === undefined) return "";
  const title = transcript.labels?.label ?? transcript.title;
  const head = `${transcript.tool} ${transcript.session}, turn ${turn.ordinal}, ${localTime(turn.saidAt ?? transcript.lastAt)}: ${title}`;
  return `${printableLine(head, 200)}\n  ${printableLine(turn.text.replaceAll("\n", " "), 300)}\n`;
}

/** @param flags from: the ordinal of the first turn */
export async function memorySessionsShow(
  name: { readonly tool: string; readonly session: string },
  flags: { readonly from: number; readonly limit: number; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { transcript, turns, nextOrdinal } = await withMesh(context, (transport) =>
    createClient(TranscriptService, transport).getTranscript({ ...name, fromOrdinal: flags.from, limit: flags.limit }),
  );
  if (flags.json === true) for (const turn of turns) process.stdout.write(jsonLine(messageJson(TurnSchema, turn)));
  else {
    context.screen.note(`${transcript!.title} (${transcript!.folder || "no folder"}, ${transcript!.turns} turns)`);
    for (const line of transcript!.labels === undefined ? [] : labelLines(transcript!.labels)) context.screen.note(line);
    for (const { ordinal, speaker, saidAt, text } of turns)
      process.stdout.write(`\n${ordinal} ${enumWord(SpeakerSchema, speaker)} ${localTime(saidAt)}\n${printable(text)}\n`);
  }
  if (nextOrdinal > 0) context.screen.note(`More with --from ${nextOrdinal}.`);
  return EXIT_OK;
}

/** @param name session: empty for all of the tool */
export async function memorySessionsForget(
  name: { readonly tool: string; readonly session: string },
  flags: { readonly yes?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const what = name.session === "" ? `All imported sessions of ${name.tool}` : `The session ${name.session} of ${name.tool}`;
  const shown = [`${printableLine(what)} is taken from memory for good. The next scan does not bring it back; the tool's own files stay.`];
  if (flags.yes !== true && !(await confirm(shown, "Forget it?", context))) return EXIT_FAILED;
  const { sessions, turns } = await withMesh(context, (transport) => createClient(TranscriptService, transport).forgetTranscripts(name));
  if (flags.json === true) process.stdout.write(jsonLine({ sessions, turns }));
  else context.screen.note(`Forgotten: ${sessions} sessions with ${turns} turns.`);
  return EXIT_OK;
}

import { randomBytes, randomUUID } from "node:crypto";
import type { Principal } from "@hlvm/identity/principal";
import type { Compaction, FoldedResult } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import type { ReadEvent } from "./event-of-line.ts";
import { readExport } from "./read-export.ts";
import type { AttachedFile } from "./attached-files.ts";
import { requireSession } from "./require-session.ts";
import type { Session } from "./session.ts";
import type { CopiedEvent, SessionStore } from "./session-store.ts";
import { redactAttachments, takeAttachments } from "./take-attachments.ts";
import { titleOf } from "./title-of.ts";

const UNTITLED = "Imported session";

/**
 * Makes a session from an export: the caller's own, in a folder and with a model of their choice. All of it is said by the
 * caller as far as the log knows, its runs have new ids, and secrets in it are replaced as in any text that comes in.
 * @throws HlvmError `import_invalid`, which names the line
 */
export async function importSession(principal: Principal, ndjson: string, workspace: string, store: SessionStore): Promise<Session> {
  const read = readExport(ndjson);
  const secretKey = randomBytes(32);
  const secrets = new RunSecrets(secretKey, []);
  const runIds = new Map<string, string>();
  /** Sequences of the file that have a place here, in order. */
  const sequences: number[] = [];
  const imported = eventPayload("sessionImported", { exportedSessionId: secrets.redact(read.sessionId.slice(0, 64)), lines: read.lines });
  const events: CopiedEvent[] = [{ runId: randomUUID(), turn: 0, at: new Date(), payload: imported }];
  const files: AttachedFile[] = [];
  for (const event of read.events) {
    const runId = runIds.get(event.runId) ?? randomUUID();
    runIds.set(event.runId, runId);
    if (event.payload.case === "userMessage") {
      const taken = takeAttachments(event.payload.value.attachments);
      event.payload.value.attachments = [...taken.attachments];
      files.push(...taken.files);
    }
    const payload = await cleaned(placed(event, runId, sequences), secrets);
    sequences.push(event.sequence);
    events.push({ runId, turn: event.turn, at: event.at, payload });
  }
  const facts = {
    sessionId: randomUUID(),
    owner: principal.id,
    title: titleOf(secrets.redact(read.title)) || UNTITLED,
    workspace,
    gitRepository: false,
    gitBranch: "",
    stateless: false,
    secretKey,
  };
  await store.createImported(principal.organization, facts, events, files);
  return requireSession(store, principal, facts.sessionId, "run");
}

/** What a payload names of its file it names of the new session. */
function placed({ payload, runId: was }: ReadEvent, runId: string, sequences: readonly number[]): EventPayload {
  if (payload.case === "conversationUndone") payload.value.lastSequence = lastPlace(payload.value.lastSequence, sequences);
  if (payload.case === "compaction") placeCompaction(payload.value, sequences);
  if (payload.case !== "toolSelected" && payload.case !== "toolEnd") return payload;
  const { callId } = payload.value;
  payload.value.callId = callId.startsWith(`${was}.`) ? `${runId}${callId.slice(was.length)}` : `${runId}.0.0`;
  return payload;
}

/** Of the last event up to a sequence of the file, which may have been left out itself; 0: there is none. */
function lastPlace(sequence: bigint, sequences: readonly number[]): bigint {
  // The first event here tells of the import.
  const kept = sequences.filter((one) => one <= Number(sequence)).length;
  return BigInt(kept === 0 ? 0 : kept + 1);
}

function placeCompaction(compaction: Compaction, sequences: readonly number[]): void {
  const places = new Map(sequences.map((sequence, index) => [BigInt(sequence), BigInt(index + 2)]));
  const here = (results: readonly FoldedResult[]): FoldedResult[] =>
    results.filter(({ sequence }) => places.has(sequence)).map((result) => ({ ...result, sequence: places.get(result.sequence)! }));
  const { fromSequence, toSequence, keptSequences } = compaction;
  compaction.toSequence = lastPlace(toSequence, sequences);
  compaction.fromSequence = compaction.toSequence === 0n ? 0n : lastPlace(fromSequence, sequences);
  compaction.keptSequences = keptSequences.flatMap((sequence) => places.get(sequence) ?? []);
  compaction.results = here(compaction.results);
  compaction.putAside = here(compaction.putAside);
}

async function cleaned(payload: EventPayload, secrets: RunSecrets): Promise<EventPayload> {
  switch (payload.case) {
    case "userMessage":
      payload.value.text = await secrets.redactInTurns(payload.value.text);
      payload.value.attachments = await redactAttachments(payload.value.attachments, secrets);
      break;
    case "runStarted":
      payload.value.model = secrets.redact(payload.value.model);
      payload.value.workspace = secrets.redact(payload.value.workspace);
      break;
    case "assistantMessage":
      payload.value.text = await secrets.redactInTurns(payload.value.text);
      for (const call of payload.value.toolCalls) {
        call.id = secrets.redact(call.id);
        call.tool = secrets.redact(call.tool);
        call.argumentsJson = secrets.redactArguments(call.argumentsJson);
      }
      break;
    case "toolSelected":
      payload.value.tool = secrets.redact(payload.value.tool);
      payload.value.argumentsJson = secrets.redactArguments(payload.value.argumentsJson);
      break;
    case "toolEnd":
      payload.value.tool = secrets.redact(payload.value.tool);
      payload.value.result!.content = await secrets.redactInTurns(payload.value.result!.content);
      payload.value.result!.summary = secrets.redact(payload.value.result!.summary);
      payload.value.result!.errorCode = secrets.redact(payload.value.result!.errorCode);
      break;
    case "todoUpdated":
      for (const item of payload.value.items) item.text = secrets.redact(item.text);
      break;
    case "compaction":
      payload.value.summary = await secrets.redactInTurns(payload.value.summary);
      payload.value.methodReason = secrets.redact(payload.value.methodReason);
      for (const result of [...payload.value.results, ...payload.value.putAside]) {
        result.tool = secrets.redact(result.tool);
        result.argumentsSummary = secrets.redact(result.argumentsSummary);
      }
      break;
    case "runStopped":
      payload.value.text = await secrets.redactInTurns(payload.value.text);
      payload.value.message = secrets.redact(payload.value.message);
      payload.value.advice = secrets.redact(payload.value.advice);
      break;
  }
  return payload;
}

import { camelCase } from "@hlvm/ndjson/camel-case";
import { checkFile } from "@hlvm/attached-files/check-files";
import {
  CompactionCause,
  StopReason,
  SummaryMethod,
  TodoSource,
  TodoStatus,
  type Attachment,
  type FoldedResult,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { checkArguments } from "@hlvm/tools/check-arguments";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** An event as a file tells of it. */
export interface ReadEvent {
  readonly sequence: number;
  readonly runId: string;
  readonly turn: number;
  readonly at: Date;
  readonly payload: EventPayload;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MAXIMUM_TURN = 1_000_000;
const MAXIMUM_ITEMS = 1_000;
const MAXIMUM_LENGTH = 2 ** 32 - 1;
/** Known, and left out: they show progress, or tell what was allowed, which nothing in a file can say. */
const LEFT_OUT = new Set(
  ["thinking", "reasoning_update", "message_delta", "permission_check", "tool_start", "tool_output", "turn_stats"].concat([
    "usage_update",
    "memory_activity",
    "run_taken_over",
    "run_queued",
    "tool_waiting",
    "session_forked",
    "instructions_loaded",
    "session_imported",
    "message_queued",
    "plan_created",
    "plan_answered",
    "plan_step",
    "reminder",
  ]),
);

/**
 * Reads what a line of an export says, for a new session: settings, approvals and allowed secrets are left out.
 * @returns undefined for lines that a conversation does without
 * @throws Error which says what is wrong with it
 */
export function eventOfLine(line: Fields): ReadEvent | undefined {
  if (line.type === "token") return undefined;
  if (line.type === "final") return { ...headOf(line), payload: runStopped(line) };
  if (line.type !== "agent_event") throw new Error(`its type ${quoted(line.type)} is not known`);
  const event = objectOf(line.event, "event");
  if (LEFT_OUT.has(String(event.type))) return undefined;
  return { ...headOf(event), payload: payloadOf(event) };
}

function payloadOf(event: Fields): EventPayload {
  switch (event.type) {
    case "user_message": {
      const attachments = listOf(event, "attachments").map(attachmentOf);
      return eventPayload("userMessage", { text: textOf(event, "text"), attachments });
    }
    case "run_started":
      return eventPayload("runStarted", { model: textOf(event, "model"), workspace: textOf(event, "workspace") });
    case "assistant_message": {
      const toolCalls = listOf(event, "tool_calls").map((call) => ({
        id: textOf(call, "id") || "unnamed",
        tool: textOf(call, "name") || "unnamed",
        argumentsJson: textOf(call, "arguments_json"),
      }));
      return eventPayload("assistantMessage", { text: textOf(event, "text"), toolCalls });
    }
    case "tool_selected":
      return eventPayload("toolSelected", {
        callId: textOf(event, "call_id"),
        tool: textOf(event, "name"),
        argumentsJson: textOf(event, "arguments_json"),
        toolIndex: numberOf(event, "tool_index", MAXIMUM_ITEMS),
        toolTotal: numberOf(event, "tool_total", MAXIMUM_ITEMS),
      });
    case "tool_end": {
      const [content, summary, errorCode] = [textOf(event, "content"), textOf(event, "summary"), textOf(event, "error_code")];
      const result = {
        success: event.success === true,
        content,
        summary,
        errorCode,
        resultBytes: BigInt(content.length),
        trust: Trust.EXTERNAL,
      };
      return eventPayload("toolEnd", { callId: textOf(event, "call_id"), tool: textOf(event, "name"), result });
    }
    case "conversation_undone": {
      const lastSequence = BigInt(numberOf(event, "last_sequence", Number.MAX_SAFE_INTEGER));
      return eventPayload("conversationUndone", { lastSequence, toTurn: numberOf(event, "to_turn", MAXIMUM_TURN) });
    }
    case "todo_updated":
      return todoUpdated(event);
    case "compaction":
      return compaction(event);
    default:
      throw new Error(`its event ${quoted(event.type)} is not known`);
  }
}

/** What it is is told from its bytes, and not from what the file says of it. */
function attachmentOf(one: Fields): Pick<Attachment, "path" | "text" | "data"> {
  const path = textOf(one, "path");
  const data = Buffer.from(textOf(one, "data"), "base64");
  if (data.length > 0 && checkFile(path, data) === undefined)
    throw new Error(`its attachment ${quoted(path)} is no image or document that can be attached`);
  const isLost = data.length === 0 && textOf(one, "media_type") !== "";
  return { path, text: isLost ? "[The file had no data for it.]" : textOf(one, "text"), data };
}

/** As the model may write it. */
function todoUpdated(event: Fields): EventPayload {
  const items = listOf(event, "items").map((one) => ({ text: textOf(one, "text"), status: textOf(one, "status") }));
  checkArguments(findNativeTool("todo")!, { items });
  const kept = items.map(({ text, status }) => ({ text, status: TodoStatus[status.toUpperCase() as keyof typeof TodoStatus] }));
  return eventPayload("todoUpdated", { items: kept, source: TodoSource.TOOL });
}

/** Whatever it folded comes from the file. */
function compaction(event: Fields): EventPayload {
  const whole = (name: string, maximum = Number.MAX_SAFE_INTEGER): number => numberOf(event, name, maximum);
  const cause = CompactionCause[textOf(event, "cause").toUpperCase() as keyof typeof CompactionCause];
  const method = SummaryMethod[textOf(event, "method").toUpperCase() as keyof typeof SummaryMethod];
  return eventPayload("compaction", {
    fromSequence: BigInt(whole("from_sequence")),
    toSequence: BigInt(whole("to_sequence")),
    cause,
    method,
    methodReason: textOf(event, "method_reason"),
    summary: textOf(event, "summary"),
    keptSequences: sequencesOf(event, "kept_sequences"),
    results: listOf(event, "pointers").map(foldedResult),
    putAside: listOf(event, "put_aside").map(foldedResult),
    tokensBefore: whole("tokens_before", MAXIMUM_LENGTH),
    tokensAfter: whole("tokens_after", MAXIMUM_LENGTH),
    turns: whole("turns", MAXIMUM_TURN),
    resultCount: whole("results", MAXIMUM_LENGTH),
    trustFloor: { trust: Trust.EXTERNAL, source: "import" },
  });
}

function foldedResult(one: Fields): Pick<FoldedResult, "sequence" | "tool" | "argumentsSummary" | "length"> {
  return {
    sequence: BigInt(numberOf(one, "sequence", Number.MAX_SAFE_INTEGER)),
    tool: textOf(one, "name"),
    argumentsSummary: textOf(one, "args_summary"),
    length: numberOf(one, "characters", MAXIMUM_LENGTH),
  };
}

function runStopped(line: Fields): EventPayload {
  const reason = StopReason[String(line.stop_reason).toUpperCase() as keyof typeof StopReason] as StopReason | undefined;
  if (reason === undefined || reason === StopReason.UNSPECIFIED)
    throw new Error(`its stop_reason ${quoted(line.stop_reason)} is not known`);
  const [text, message, advice] = [textOf(line, "text"), textOf(line, "message"), textOf(line, "advice")];
  return eventPayload("runStopped", { reason, text, message, advice });
}

function headOf(fields: Fields): Omit<ReadEvent, "payload"> {
  const runId = textOf(fields, "run_id").toLowerCase();
  if (!UUID.test(runId)) throw new Error(`its run_id ${quoted(runId)} is no run's id`);
  const at = new Date(textOf(fields, "at"));
  if (Number.isNaN(at.getTime())) throw new Error(`its time ${quoted(fields.at)} is none`);
  const sequence = numberOf(fields, "sequence", Number.MAX_SAFE_INTEGER);
  // Nothing happened later than it is read.
  return { runId, sequence, turn: numberOf(fields, "iteration", MAXIMUM_TURN), at: new Date(Math.min(at.getTime(), Date.now())) };
}

/** Exports of format 1 spelled fields of events in camelCase. */
function valueOf(fields: Fields, name: string): unknown {
  return fields[name] ?? fields[camelCase(name)];
}

function textOf(fields: Fields, name: string): string {
  const value = valueOf(fields, name) ?? "";
  if (typeof value !== "string") throw new Error(`its ${name} is no text`);
  return value.toWellFormed();
}

function numberOf(fields: Fields, name: string, maximum: number): number {
  const value = valueOf(fields, name) ?? 0;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > maximum)
    throw new Error(`its ${name} is no whole number from 0 to ${maximum}`);
  return value;
}

function listOf(fields: Fields, name: string): Fields[] {
  const value = valueOf(fields, name) ?? [];
  if (!Array.isArray(value) || value.length > MAXIMUM_ITEMS) throw new Error(`its ${name} is no list of at most ${MAXIMUM_ITEMS}`);
  return value.map((item) => objectOf(item, name));
}

function sequencesOf(fields: Fields, name: string): bigint[] {
  const value = valueOf(fields, name) ?? [];
  if (!Array.isArray(value) || value.length > MAXIMUM_ITEMS) throw new Error(`its ${name} is no list of at most ${MAXIMUM_ITEMS}`);
  return value.map((sequence) => BigInt(numberOf({ [name]: sequence }, name, Number.MAX_SAFE_INTEGER)));
}

function objectOf(value: unknown, name: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error(`its ${name} is no JSON object`);
}

function quoted(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? "(missing)";
}

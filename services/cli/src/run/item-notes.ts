import type { ApprovalItem, InfoItem, Item, MemoryItem, UserItem, WorkerItem } from "@hlvm/conversation/item";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalKind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Piece, Tone } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable.ts";
import { counted, shortDuration } from "../terminal/sizes.ts";
import { instructionNotes } from "./instruction-notes.ts";

type NotedItem = Exclude<Item, { kind: "assistant" | "thinking" | "tools" | "approval" | "plan" }>;

interface Reader {
  readonly verbose: boolean;
  readonly showsQuestions: boolean;
  readonly sessionId: string;
}

/** An item that is told in lines of its own, as it has become. */
export function itemNotes(item: NotedItem, reader: Reader): Piece[] {
  switch (item.kind) {
    case "user":
      return userNotes(item, reader);
    case "memory":
      return memoryNotes(item, reader.verbose);
    case "comment":
      return [note(`${item.author} comments: ${item.text}`, "plain")];
    case "worker":
      return [note(workerLine(item), item.state === "failed" ? "warning" : "dim")];
    case "instructions":
      return instructionNotes(item, reader.sessionId);
    case "error":
      return [note(item.message, "bad"), ...(item.advice === "" ? [] : [note(`What to do: ${item.advice}`, "plain")])];
    case "info":
      return infoNotes(item);
  }
}

/** What came of a question to a person. That a call of this session's was denied, its own line tells; of a plan, the plan's. */
export function approvalNotes(item: ApprovalItem, { showsQuestions }: { readonly showsQuestions: boolean }): Piece[] {
  const { state, outcome, approval, tool, workerAgents } = item;
  const isWorkers = workerAgents.length > 0;
  const what = approval.kind === ApprovalKind.QUESTION ? "the model's question" : printableLine(tool);
  const named = `${askerName(item)}${what}`;
  if (approval.kind === ApprovalKind.PLAN && !isWorkers) return [];
  if (state === "denied") return isWorkers ? [note(`${named} was denied: ${printableLine(outcome)}`, "warning")] : [];
  if (!showsQuestions) return [];
  return [note(`${named} ${state}: ${printableLine(outcome.replace(/^approval: /, ""))}`, "dim")];
}

/** What stands before a worker's call; empty for one of this session's. */
export function askerName({ workerAgents }: ApprovalItem): string {
  return workerAgents.length === 0 ? "" : `worker ${printableLine(workerAgents.join(" › "))}: `;
}

function userNotes({ author, text, attachments, isPending, isSteering, interrupts }: UserItem, reader: Reader): Piece[] {
  const isShown = reader.showsQuestions || reader.verbose || isPending;
  const attached = attachments
    .filter(({ mediaType }) => mediaType !== "")
    .map(({ path, mediaType, size, width, height }) =>
      note(`attached ${path}, ${mediaType}${width > 0 ? `, ${width}x${height}` : ""}, ${size} bytes`, "dim"),
    );
  const how = !isPending ? ", read now" : interrupts ? ", interrupting" : ", queued";
  const said = isSteering || reader.showsQuestions ? [note(`${author}${isSteering ? how : ""}: ${text}`, "plain")] : [];
  return [...said, ...(isShown ? attached : [])];
}

function memoryNotes({ recalled, written, withheld, notice }: MemoryItem, verbose: boolean): Piece[] {
  const notes: Piece[] = [];
  if (recalled.length > 0) notes.push(note(`memory: ${counted(recalled.length, "fact")} recalled`, "dim"));
  if (written.length > 0) notes.push(note(`memory: ${counted(written.length, "fact")} written`, "dim"));
  if (withheld > 0) notes.push(note(`memory: ${counted(withheld, "fact")} of another person`, "dim"));
  if (verbose) for (const fact of [...recalled, ...written]) notes.push(note(`  ${printableLine(fact)}`, "dim"));
  if (notice !== "") notes.push(note(`memory: ${notice}`, "warning"));
  return notes;
}

function workerLine({ agentType, task, state, stopReason, turns, durationMilliseconds, tokens, filesTouched }: WorkerItem): string {
  const name = `worker ${printableLine(agentType)}`;
  if (state === "running") return `→ ${name}: ${printableLine(task, 100)}`;
  const facts = [enumWord(StopReasonSchema, stopReason), counted(turns, "turn"), shortDuration(durationMilliseconds), `${tokens} tokens`];
  if (filesTouched.length > 0) facts.push(counted(filesTouched.length, "file"));
  return [`${state === "succeeded" ? "✓" : "✗"} ${name}`, ...facts].join(" · ");
}

function infoNotes({ topic, text, detail, otherSessionId }: InfoItem): Piece[] {
  switch (topic) {
    case "interruption":
      return [note("cancelled", "warning")];
    case "takeover":
      return [note(`${text}.`, "warning")];
    case "fallback":
      return [note(`${printableLine(text)}: ${printableLine(detail, 300)}`, "warning")];
    case "compaction":
      return [note(`${text}; the log keeps everything`, "dim")];
    case "undo":
      return [note(text, "plain"), ...detail.split("\n").flatMap((path) => (path === "" ? [] : [note(`  ${printableLine(path)}`, "dim")]))];
    default: {
      const more = [printableLine(detail, 300), otherSessionId].filter((part) => part !== "").join(", ");
      return [note(`${printableLine(text)}${more === "" ? "" : `: ${more}`}`, "dim")];
    }
  }
}

function note(text: string, tone: Tone): Piece {
  return { text, tone };
}

import { create } from "@bufbuild/protobuf";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ToolResultSchema, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { WorkerEnd } from "./follow-worker.ts";

/** Of a worker's answer that its parent reads; the worker's own session has all of it. */
const ANSWER_LENGTH = 16_000;
const FILES_NAMED = 50;

const ERROR_CODES: Partial<Record<StopReason, string>> = {
  [StopReason.USER_CANCELLED]: "cancelled",
  [StopReason.TIMEOUT]: "timeout",
};

/** What the parent's model reads of a worker that has ended. */
export function workerResult(agentType: string, end: WorkerEnd): ToolResult {
  const { stopped, turns, toolCalls, filesTouched } = end;
  const isCompleted = stopped.reason === StopReason.COMPLETED;
  const reason = enumWord(StopReasonSchema, stopped.reason);
  const facts = [`worker ${agentType}`, reason, `${turns} turns`, `${toolCalls} tool calls`];
  const files = filesTouched.length === 0 ? [] : [`Files written: ${filesTouched.slice(0, FILES_NAMED).join(", ")}`];
  const why = isCompleted || stopped.message === "" ? [] : [`It stopped early: ${stopped.message} What it had:`];
  const answer = stopped.text.slice(0, ANSWER_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
  const cut = answer.length < stopped.text.length ? [`[cut: its answer has ${stopped.text.length} characters]`] : [];
  const content = [`[${facts.join(" · ")}]`, ...files, ...why, answer || "(it said nothing)", ...cut].join("\n");
  return create(ToolResultSchema, {
    success: isCompleted,
    content,
    summary: facts.join(" · "),
    errorCode: isCompleted ? "" : (ERROR_CODES[stopped.reason] ?? "unavailable"),
    durationMilliseconds: stopped.durationMilliseconds,
    resultBytes: BigInt(Buffer.byteLength(stopped.text)),
    truncated: cut.length > 0,
    trust: end.trust,
  });
}

import { create } from "@bufbuild/protobuf";
import { TodoSource, TodoStatus } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ToolResultSchema, Trust, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { ReadyCall } from "./prepare-call.ts";

const STATUSES: Readonly<Record<string, TodoStatus>> = {
  pending: TodoStatus.PENDING,
  in_progress: TodoStatus.IN_PROGRESS,
  completed: TodoStatus.COMPLETED,
};

type Run = Pick<RunContext, "journal" | "context" | "secrets" | "runId">;

/** Puts the model's list into the log in the place of the one before, and what it says of the steps of an accepted plan. */
export async function writeTodo({ value }: Pick<ReadyCall, "value">, turn: number, run: Run): Promise<ToolResult> {
  const given = value.items as readonly { readonly text: string; readonly status: string }[];
  const items = given.map(({ text, status }) => ({ text: run.secrets.redact(text), status: STATUSES[status] ?? TodoStatus.PENDING }));
  const { work } = run.context.conversation;
  const steps = work.changedSteps(items as Parameters<typeof work.changedSteps>[0]).map((step) => eventPayload("planStep", step));
  await tell([eventPayload("todoUpdated", { items, source: TodoSource.TOOL }), ...steps], turn, run);
  const open = items.filter(({ status }) => status !== TodoStatus.COMPLETED).length;
  const content = items.length === 0 ? "The list is empty." : `Written: ${items.length - open} of ${items.length} done.`;
  return create(ToolResultSchema, { success: true, content, summary: content, trust: Trust.VERIFIED });
}

/** Into the log, and for the model that goes on. */
export async function tell(payloads: readonly EventPayload[], turn: number, { journal, context, runId }: Run): Promise<void> {
  for (const payload of payloads) context.add({ runId, turn, payload });
  await journal.append(turn, ...payloads);
}

import { create } from "@bufbuild/protobuf";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import type { PersonAnswer } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { TodoSource, TodoStatus } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ToolResultSchema, Trust, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import { planSteps } from "../work/plan-steps.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { failedResult } from "./tool-result.ts";
import { tell } from "./write-todo.ts";

/**
 * What a person said becomes the call's result. A plan that they accepted ends plan mode: from here on the run calls by what the
 * edge signed with the acceptance, and the plan's steps are the list of what is to be done.
 * @throws HlvmError where the run cannot be let go on so: nothing changed then
 */
export async function takePersonAnswer(
  { definition, call }: ReadyCall,
  answer: PersonAnswer | undefined,
  turn: number,
  run: RunContext,
): Promise<ToolResult> {
  if (answer === undefined) return failedResult("unavailable", "Nobody's answer came with the permission. Go on without it.");
  const { text, answeredBy, mode, delegation } = answer;
  if (definition.asksPerson === "question") return said(`${answeredBy} answered:\n${text}`, `${answeredBy} answered`);
  await run.redelegate(delegation);
  const steps = planSteps(text);
  const accepted = eventPayload("planAnswered", { callId: call.callId, accepted: true, text, steps, mode });
  const items = steps.map((step) => ({ text: step, status: TodoStatus.PENDING }));
  await tell([accepted, ...(items.length === 0 ? [] : [eventPayload("todoUpdated", { items, source: TodoSource.PLAN })])], turn, run);
  const word = permissionModeWord(mode);
  return said(
    `${answeredBy} accepted this plan, and the run goes on in the mode ${word}: carry it out now, step by step.\n\n${text}`,
    `${answeredBy} accepted the plan; mode ${word}`,
  );
}

function said(content: string, summary: string): ToolResult {
  const resultBytes = BigInt(Buffer.byteLength(content));
  return create(ToolResultSchema, { success: true, content, summary, resultBytes, trust: Trust.USER_CLAIMED });
}

import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { HeldChange, ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { keepChanges } from "@hlvm/tools/platform-tools";
import type { ToolCall } from "../loop/ports.ts";
import { keepCallId } from "./keep-call-id.ts";
import type { ReadyCall } from "./prepare-call.ts";

/**
 * What a command changed of the files that programs outside obey was put back. A person is asked about it, with the diff
 * in front of them, by a call that is decided, granted and recorded like any other; the model is told what came of it.
 * @param call has that call decided on and run
 */
export async function askToKeep(result: ToolResult, asked: ToolCall, call: (ready: ReadyCall) => Promise<ToolResult>): Promise<ToolResult> {
  if (result.heldChange === undefined) return result;
  const kept = await call(readyCall(result.heldChange, asked));
  const isDone = kept.success && (result.exitCode ?? 0) === 0;
  const note = kept.success ? "A person allowed the change, and it was made again." : kept.content;
  return {
    ...result,
    content: `${result.content}\n[${note}]`,
    ...(isDone ? { success: true, errorCode: "" } : {}),
    summary: kept.success ? `${result.summary}; then allowed` : result.summary,
    heldChange: undefined,
  };
}

function readyCall({ changeId, paths, diff }: HeldChange, { sessionId, runId, callId }: ToolCall): ReadyCall {
  const canonical = canonicalArguments(JSON.stringify({ change_id: changeId, paths, diff }));
  const name = { sessionId, runId, callId: keepCallId(callId), tool: keepChanges.name };
  const call = { ...name, argumentsJson: canonical.json, definitionHash: definitionHash(keepChanges) };
  return { definition: keepChanges, call, value: canonical.value };
}

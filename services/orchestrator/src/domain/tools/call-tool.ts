import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload } from "../log/event-payload.ts";
import { orAborted } from "../loop/or-aborted.ts";
import type { RunContext } from "../loop/run-context.ts";
import { askPermission } from "./ask-permission.ts";
import { awaitApproval } from "./await-approval.ts";
import { executeCall } from "./execute-call.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { summarizeArguments } from "./summarize-arguments.ts";

/** Of a call among those of its turn, from 1. */
export interface Place {
  readonly toolIndex: number;
  readonly toolTotal: number;
}

/**
 * Has one call decided on and runs it where that is allowed. A grant lives a minute, so that a call which has to wait for
 * its turn waits before it is decided on; what a person let through waits no more.
 * @param before resolves when the call may have an effect
 * @throws HlvmError where policy cannot decide, or what `before` rejects with; nothing ran then
 */
export async function callTool(
  ready: ReadyCall,
  place: Place,
  turn: number,
  before: Promise<unknown>,
  run: RunContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  signal.throwIfAborted();
  const { call } = ready;
  const runGranted = (grant: string): Promise<ToolResult> => runCall(ready, grant, place, turn, before, run, signal);
  try {
    const decided = await run.slots.use(async () => {
      const permission = await askPermission(call, turn, run, signal);
      return "grant" in permission ? { result: await runGranted(permission.grant) } : permission;
    });
    if ("result" in decided) return decided.result;
    if ("denial" in decided) return decided.denial;
    const answer = await awaitApproval(call, decided.approval, turn, run, signal);
    return "denial" in answer ? answer.denial : await runGranted(answer.grant);
  } catch (thrown) {
    // Policy may have allowed it.
    const status = signal.aborted ? OutcomeStatus.CANCELLED : OutcomeStatus.REFUSED;
    const { sessionId, runId, callId } = call;
    const outcome = { sessionId, runId, callId, status, summary: "The run was stopped before this call ran.", durationMilliseconds: 0 };
    run.records.add(run.outcomes.recordNotRun(outcome));
    // Where policy cannot be told, what was asked expires by itself; without its run an answer has no effect.
    if (signal.aborted) run.records.add(run.mesh.policy.withdrawApprovals(runId).catch(() => undefined));
    throw thrown;
  }
}

async function runCall(
  ready: ReadyCall,
  grant: string,
  place: Place,
  turn: number,
  before: Promise<unknown>,
  run: RunContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  await orAborted(before, signal);
  const { sessionId, runId, callId, tool, argumentsJson } = ready.call;
  const shown = run.secrets.redactArguments(argumentsJson);
  const argumentsSummary = summarizeArguments(JSON.parse(shown) as ReadyCall["value"]);
  void run.journal.appendSoon(turn, eventPayload("toolStart", { callId, tool, argumentsJson: shown, argumentsSummary, ...place }));
  const started = performance.now();
  const { result, status } = await executeCall(ready, grant, turn, run, signal);
  const durationMilliseconds = Math.round(performance.now() - started);
  run.records.add(run.outcomes.record({ sessionId, runId, callId, status, summary: result.summary, durationMilliseconds }));
  return result;
}

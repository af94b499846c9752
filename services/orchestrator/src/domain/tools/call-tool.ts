import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import { askPermission } from "./ask-permission.ts";
import { awaitApproval } from "./await-approval.ts";
import { executeCall } from "./execute-call.ts";
import { isInDoubt } from "./execute-in-sandbox.ts";
import { observeTool } from "./observe-tool.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { summarizeArguments } from "./summarize-arguments.ts";

const NOT_RUN = "The run was stopped before this call ran.";

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
    const decided = await run.toolLimit(async () => {
      const permission = await askPermission(call, turn, run, signal);
      return "grant" in permission ? { result: await runGranted(permission.grant) } : permission;
    });
    if ("result" in decided) return decided.result;
    if ("denial" in decided) return decided.denial;
    const answer = await awaitApproval(call, decided.approval, turn, run, signal);
    return "denial" in answer ? answer.denial : await runGranted(answer.grant);
  } catch (thrown) {
    const { sessionId, runId, callId } = call;
    const ids = { sessionId, runId, callId };
    const status = signal.aborted ? OutcomeStatus.CANCELLED : OutcomeStatus.REFUSED;
    // Whoever reconciles the run finds out what came of a call in doubt. Policy may have allowed the others.
    if (isInDoubt(thrown)) run.outcomes.leave();
    else run.records.add(run.outcomes.recordNotRun({ ...ids, status, summary: NOT_RUN, durationMilliseconds: 0 }));
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
  const { result, status } = await observeTool(ready, () => executeCall(ready, grant, turn, run, signal));
  const durationMilliseconds = Math.round(performance.now() - started);
  run.records.add(run.outcomes.record({ sessionId, runId, callId, status, summary: result.summary, durationMilliseconds }));
  return result;
}

/** What comes of the work, unless the signal is aborted first. @throws what the work rejects with, or the signal's reason */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { spawnWorker } from "@hlvm/tools/worker-tools";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import { onlyReads } from "../replay/recorded-results.ts";
import { isHandOver } from "../run/interruption.ts";
import { askPermission } from "./ask-permission.ts";
import { awaitApproval } from "./await-approval.ts";
import { executeCall, type Executed } from "./execute-call.ts";
import { isInDoubt } from "./execute-in-sandbox.ts";
import { observeTool } from "./observe-tool.ts";
import { outcomeStatusOf } from "./outcome-status.ts";
import type { ReadyCall } from "./prepare-call.ts";
import type { Granted } from "./permission.ts";
import { resumeCall } from "./resume-call.ts";
import { summarizeArguments } from "./summarize-arguments.ts";
import { tell } from "./write-todo.ts";

/** The error code of a call of which nobody knows whether it took effect. */
const IN_DOUBT = "outcome_unknown";
const NOT_RUN = "The run was stopped before this call ran.";

/** Of a call among those of its turn, from 1. */
export interface Place {
  readonly toolIndex: number;
  readonly toolTotal: number;
}

/** What the calls of one turn share. */
export interface TurnCalls {
  readonly turn: number;
  /** Resolves when calls may have an effect. */
  readonly before: Promise<unknown>;
  /** Whether another process made these calls, which may have run some of them. */
  readonly isTakenOver: boolean;
  readonly run: RunContext;
  readonly signal: AbortSignal;
  /** A call was stopped that may have asked somebody. */
  readonly onStopped: () => void;
}

/**
 * Has one call decided on and runs it where that is allowed. A grant lives a minute, so that a call which has to wait for
 * its turn waits before it is decided on; what a person let through waits no more.
 * @throws HlvmError where policy cannot decide, or what `before` rejects with; nothing ran then
 */
export async function callTool(given: ReadyCall, place: Place, calls: TurnCalls): Promise<ToolResult> {
  const { run, signal } = calls;
  signal.throwIfAborted();
  const resumed = calls.isTakenOver ? await resumeCall(given, run) : { ready: given };
  if ("result" in resumed) {
    recordOutcome(given, { result: resumed.result, status: outcomeStatusOf(resumed.result) }, run);
    return resumed.result;
  }
  const result = await decideAndRun(resumed.ready, place, calls);
  return result.errorCode === IN_DOUBT && run.asksInDoubt ? repeatIfAllowed(resumed.ready, result, place, calls) : result;
}

/** Makes a call once more, under an id of its own, where a person says so. @returns what that came to, or the first result */
async function repeatIfAllowed(ready: ReadyCall, inDoubt: ToolResult, place: Place, calls: TurnCalls): Promise<ToolResult> {
  const { callId } = ready.call;
  const again = { ...ready, call: { ...ready.call, callId: `${callId}.again` } };
  const repeated = await decideAndRun(again, place, calls, callId);
  return repeated.errorCode === "permission_denied" ? inDoubt : repeated;
}

/** @param repeats the call that it makes once more, of which nobody knows whether it took effect */
async function decideAndRun(ready: ReadyCall, place: Place, calls: TurnCalls, repeats?: string): Promise<ToolResult> {
  const { run } = calls;
  const { call } = ready;
  const runGranted = (granted: Granted): Promise<ToolResult> => runCall(ready, granted, place, calls);
  // A worker may take as long as its parent: who waits for it holds up no other call.
  const isWaiting = ready.definition === spawnWorker;
  try {
    const decided = await run.toolLimit(async () => {
      const permission = await askPermission(call, calls, repeats);
      return "grant" in permission && !isWaiting ? { result: await runGranted(permission) } : permission;
    });
    if ("grant" in decided) return await runGranted(decided);
    if ("result" in decided) return decided.result;
    const answer = "denial" in decided ? decided : await awaitApproval(call, decided.approval, calls);
    if (!("denial" in answer)) return await runGranted(answer);
    if (ready.definition.asksPerson === "plan") await tell([rejected(call, answer.denial)], calls.turn, run);
    return answer.denial;
  } catch (thrown) {
    leaveCall(ready, thrown, calls);
    throw thrown;
  }
}

function rejected({ callId }: ReadyCall["call"], { summary }: ToolResult): EventPayload {
  return eventPayload("planAnswered", { callId, accepted: false, text: summary });
}

/** Puts on record that a call did not run. Of a run that is handed over everything stands as it is, for whoever goes on with it. */
function leaveCall({ call }: ReadyCall, thrown: unknown, { run, signal, onStopped }: TurnCalls): void {
  if (isHandOver(thrown) || isHandOver(signal.reason)) return;
  const { sessionId, runId, callId } = call;
  const status = signal.aborted ? OutcomeStatus.CANCELLED : OutcomeStatus.REFUSED;
  // Whoever reconciles the run finds out what came of a call in doubt. Policy may have allowed the others.
  if (isInDoubt(thrown)) run.outcomes.leave();
  else run.journal.records.add(run.outcomes.recordNotRun({ sessionId, runId, callId, status, summary: NOT_RUN, durationMilliseconds: 0 }));
  if (signal.aborted) onStopped();
}

async function runCall(ready: ReadyCall, granted: Granted, place: Place, { turn, before, run, signal }: TurnCalls): Promise<ToolResult> {
  await orAborted(before, signal);
  const { callId, tool, argumentsJson } = ready.call;
  const shown = run.secrets.redactArguments(argumentsJson);
  const argumentsSummary = summarizeArguments(JSON.parse(shown) as ReadyCall["value"]);
  void run.journal.appendSoon(turn, eventPayload("toolStart", { callId, tool, argumentsJson: shown, argumentsSummary, ...place }));
  const served = run.recorded?.take({ callId, tool, argumentsJson: shown }, onlyReads(tool, granted.step));
  if (served !== undefined) {
    const result = { ...served, summary: `as recorded: ${served.summary}` };
    recordOutcome(ready, { result, status: outcomeStatusOf(result) }, run);
    return result;
  }
  const executed = await unlessHandedOver(signal, (stopping) => observeTool(ready, () => executeCall(ready, granted, turn, run, stopping)));
  recordOutcome(ready, executed, run);
  return executed.result;
}

function recordOutcome({ call }: ReadyCall, { result, status }: Executed, run: RunContext): void {
  const { sessionId, runId, callId } = call;
  const { summary, durationMilliseconds } = result;
  run.journal.records.add(run.outcomes.record({ sessionId, runId, callId, status, summary, durationMilliseconds }));
}

/**
 * A call that runs while its run is handed over is neither waited for nor cancelled: its executor brings it to an end, and
 * whoever goes on with the run finds it there.
 * @param work is given a signal for everything else that stops the run
 */
async function unlessHandedOver<T>(signal: AbortSignal, work: (stopping: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const handedOver = Promise.withResolvers<never>();
  const abort = (): void => {
    if (isHandOver(signal.reason)) handedOver.reject(signal.reason);
    else stop.abort(signal.reason);
  };
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work(stop.signal), handedOver.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
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

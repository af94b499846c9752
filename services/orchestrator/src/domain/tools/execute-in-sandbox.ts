import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Receipt } from "../loop/ports.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { failedResult } from "./tool-result.ts";

const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 4_000;

/**
 * Has the sandbox run a call, whatever it takes: what was never started is attempted again, and where an answer was lost the
 * call's receipt tells. The sandbox runs a call id once, so that no attempt can make a call take effect twice.
 * @param attempt sends the call
 * @throws HlvmError `call_not_run`, `call_in_doubt` where the run may not go on, or why the sandbox refuses just this call
 */
export async function executeInSandbox(
  attempt: () => Promise<ToolResult>,
  ready: ReadyCall,
  run: RunContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  const endsAt = performance.now() + run.limits.serviceMilliseconds;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS)) {
    const outcome = await tryOnce(attempt, ready, run, signal);
    if ("result" in outcome) return outcome.result;
    const isOver = performance.now() + pause > endsAt || outcome.failure.code === "deadline_exceeded";
    if (isOver) throw outcome.isKnown ? callNotRun(ready, outcome.failure) : callInDoubt(ready, outcome.failure);
    // Calls which were refused together do not come back together.
    await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

type Outcome =
  | { readonly result: ToolResult }
  /** `isKnown`: it did not start; else nobody could be asked. */
  | { readonly failure: HlvmError; readonly isKnown: boolean };

async function tryOnce(attempt: () => Promise<ToolResult>, ready: ReadyCall, run: RunContext, signal: AbortSignal): Promise<Outcome> {
  const { sandbox } = run.mesh;
  try {
    return { result: await attempt() };
  } catch (failure) {
    if (signal.aborted || !(failure instanceof HlvmError)) throw failure;
    if (failure.code === "resource_exhausted") return { failure, isKnown: true };
    // It began once before, and its end was not seen.
    if (failure.reason === "call_in_doubt") return { result: outcomeUnknown(failure) };
    // The sandbox was started anew.
    if (failure.reason === "session_not_found") await openAgain(run, signal);
    else if (!["unavailable", "internal", "deadline_exceeded"].includes(failure.code)) throw failure;
    const receipt = await sandbox.receipt(run.workspaceSessionId, ready.call.callId).catch(() => undefined);
    return outcomeOf(receipt, failure);
  }
}

/** Where the sandbox is away again, the receipt that is asked for next finds out. */
async function openAgain({ mesh: { sandbox }, workspaceSessionId, workspace }: RunContext, signal: AbortSignal): Promise<void> {
  await sandbox.openWorkspace(workspaceSessionId, workspace, signal).catch((thrown: unknown) => {
    if (!(thrown instanceof HlvmError) || thrown.code !== "unavailable") throw thrown;
  });
}

function outcomeOf(receipt: Receipt | undefined, failure: HlvmError): Outcome {
  if (receipt === undefined) return { failure, isKnown: false };
  if (receipt.state === "done") return { result: receipt.result };
  if (receipt.state === "never_started") return { failure, isKnown: true };
  if (failure.code === "deadline_exceeded") throw failure;
  return { result: outcomeUnknown(failure) };
}

function outcomeUnknown({ message }: HlvmError): ToolResult {
  return failedResult(
    "outcome_unknown",
    `The end of this call was not seen (${message}). It is not known whether it took effect: look before you do it again.`,
  );
}

function callNotRun({ call }: ReadyCall, cause: HlvmError): HlvmError {
  return new HlvmError({
    code: cause.code,
    reason: "call_not_run",
    message: `The run was stopped, since its call of ${call.tool} could not be run: ${cause.message}`,
    advice: `${cause.advice} Then go on with --resume.`.trim(),
    cause,
  });
}

/** Nobody could be asked what came of the call. */
export function isInDoubt(thrown: unknown): thrown is HlvmError {
  return thrown instanceof HlvmError && thrown.reason === "call_in_doubt";
}

function callInDoubt({ call }: ReadyCall, cause: HlvmError): HlvmError {
  return new HlvmError({
    code: cause.code,
    reason: "call_in_doubt",
    message: `The run was stopped, since the sandbox does not answer (${cause.message}). It is not known whether its call of ${call.tool} took effect.`,
    advice: "Look at the workspace, and at `hlvm status`; then go on with --resume.",
    cause,
  });
}

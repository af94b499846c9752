import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolOutput_Stream, ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload } from "../log/event-payload.ts";
import { Coalescer } from "../loop/coalescer.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { outcomeStatusOf } from "./outcome-status.ts";
import { failedResult } from "./tool-result.ts";

const OUTPUT_INTERVAL_MILLISECONDS = 100;
/** Most commands end sooner than this: their output is then written together with their result. */
const FIRST_OUTPUT_WAIT_MILLISECONDS = 30;
/** Of one call's output that watchers see while it runs; the result has its own limit. */
const OUTPUT_LENGTH = 256 * 1024;
/** The executor ends a tool at the tool's own limit; it gets this long to say so. */
const MARGIN_MILLISECONDS = 5_000;
const UNKNOWN_EFFECT = "It is not known whether it took effect: look before you do it again.";

export interface Executed {
  readonly result: ToolResult;
  readonly status: OutcomeStatus;
}

/** Runs a granted call where it belongs; whatever goes wrong is a result. */
export async function executeCall(ready: ReadyCall, grant: string, turn: number, run: RunContext, signal: AbortSignal): Promise<Executed> {
  const started = performance.now();
  const timeout = ready.definition.timeoutMilliseconds + MARGIN_MILLISECONDS;
  try {
    const result =
      ready.definition.executor === "memory"
        ? await executeInMemory(ready, grant, run, timeout, signal)
        : await executeInSandbox(ready, grant, turn, run, timeout, signal);
    return { result, status: outcomeStatusOf(result) };
  } catch (thrown) {
    const took = performance.now() - started;
    if (signal.aborted)
      return {
        result: failedResult("cancelled", "Cancelled: the run was stopped while this call ran.", took),
        status: OutcomeStatus.CANCELLED,
      };
    if (!(thrown instanceof HlvmError)) throw thrown;
    return failureOf(thrown, took);
  }
}

async function executeInMemory(
  ready: ReadyCall,
  grant: string,
  run: RunContext,
  timeout: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    return await run.mesh.memory.execute(ready.call, grant, run.workspace, timeout, signal);
  } catch (thrown) {
    if (signal.aborted || !isDoubtful(thrown) || ready.definition.sideEffects === "read-only") throw thrown;
    return failedResult("outcome_unknown", `Memory did not answer (${thrown.message}). ${UNKNOWN_EFFECT}`);
  }
}

async function executeInSandbox(
  ready: ReadyCall,
  grant: string,
  turn: number,
  run: RunContext,
  timeout: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const attempt = (): Promise<ToolResult> => readSandbox(ready, grant, turn, run, timeout, signal);
  try {
    return await attempt().catch((thrown: unknown) => {
      if (signal.aborted || !(thrown instanceof HlvmError) || thrown.reason !== "session_not_found") throw thrown;
      return openAndTryAgain(attempt, ready, run, signal);
    });
  } catch (thrown) {
    if (signal.aborted || !isDoubtful(thrown)) throw thrown;
    return settleDoubt(ready, run, thrown);
  }
}

/** The sandbox was started anew: it refused before it looked at the grant. */
async function openAndTryAgain(
  attempt: () => Promise<ToolResult>,
  { call }: ReadyCall,
  { mesh: { sandbox }, sessionId, workspace }: RunContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  await sandbox.openWorkspace(sessionId, workspace, signal);
  const receipt = await sandbox.receipt(sessionId, call.callId);
  if (receipt.state === "done") return receipt.result;
  if (receipt.state === "never_started") return attempt();
  throw new HlvmError({ code: "unavailable", reason: "session_not_found", message: "it was started anew while the call was on its way" });
}

/** Whether the call may have taken effect although it failed. */
function isDoubtful(thrown: unknown): thrown is HlvmError {
  return thrown instanceof HlvmError && ["unavailable", "internal", "deadline_exceeded"].includes(thrown.code);
}

/** The connection broke while the call may have run: the executor's receipt tells, and where it does not the model is told so. */
async function settleDoubt(ready: ReadyCall, run: RunContext, broken: HlvmError): Promise<ToolResult> {
  const receipt = await run.mesh.sandbox.receipt(run.sessionId, ready.call.callId).catch(() => ({ state: "unknown" }) as const);
  if (receipt.state === "done") return receipt.result;
  if (broken.code === "deadline_exceeded") throw broken;
  const gone = `The sandbox did not answer (${broken.message}).`;
  return receipt.state === "never_started"
    ? failedResult("unavailable", `${gone} It did not run. You may try it once more.`)
    : failedResult("outcome_unknown", `${gone} ${UNKNOWN_EFFECT}`);
}

async function readSandbox(
  ready: ReadyCall,
  grant: string,
  turn: number,
  run: RunContext,
  timeout: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { call } = ready;
  const output = new Coalescer<ToolOutput_Stream>(OUTPUT_INTERVAL_MILLISECONDS, FIRST_OUTPUT_WAIT_MILLISECONDS, (stream, text) => {
    void run.journal.appendSoon(turn, eventPayload("toolOutput", { callId: call.callId, output: { stream, text } }));
  });
  let left = OUTPUT_LENGTH;
  let result: ToolResult | undefined;
  try {
    for await (const event of run.mesh.sandbox.execute(call, grant, timeout, signal)) {
      if ("result" in event) result = event.result;
      else {
        if (left > 0) output.push(event.output.stream, event.output.text.slice(0, left));
        left -= event.output.text.length;
      }
    }
  } catch (thrown) {
    if (result === undefined) throw thrown;
  } finally {
    output.flush();
  }
  if (result !== undefined) return result;
  throw new HlvmError({ code: "unavailable", reason: "stream_cut", message: "the tool's stream ended without a result" });
}

function failureOf(error: HlvmError, took: number): Executed {
  const said = `${error.message} ${error.advice}`.trim();
  switch (error.code) {
    case "deadline_exceeded":
      return {
        result: failedResult("timeout", `The tool did not end within its time and was stopped. ${said}`, took),
        status: OutcomeStatus.TIMED_OUT,
      };
    case "permission_denied":
    case "unauthenticated":
    case "invalid_argument":
    case "failed_precondition":
    case "already_exists":
      return { result: failedResult("unavailable", `The executor would not run this call: ${said}`, took), status: OutcomeStatus.REFUSED };
    default:
      return { result: failedResult("unavailable", `The tool failed: ${said}`, took), status: OutcomeStatus.FAILED };
  }
}

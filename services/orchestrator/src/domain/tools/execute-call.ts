import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { PersonAnswer } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { spawnWorker } from "@hlvm/tools/worker-tools";
import { eventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import { executeInSandbox } from "./execute-in-sandbox.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { outcomeStatusOf } from "./outcome-status.ts";
import type { Granted } from "./permission.ts";
import { readResult } from "./read-result.ts";
import { takePersonAnswer } from "./take-person-answer.ts";
import { failedResult } from "./tool-result.ts";
import { writeTodo } from "./write-todo.ts";

/** Of one call's output that watchers see while it runs; the result has its own limit. */
const OUTPUT_LENGTH = 256 * 1024;
/** The executor ends a tool at the tool's own limit; it gets this long to say so. */
const MARGIN_MILLISECONDS = 5_000;
/** For a sandbox, where all are at work; the run's own limit mostly comes first. */
const WAIT_MILLISECONDS = 10 * 60 * 1_000;
const UNKNOWN_EFFECT = "It is not known whether it took effect: look before you do it again.";

export interface Executed {
  readonly result: ToolResult;
  readonly status: OutcomeStatus;
}

/**
 * Runs a granted call where it belongs; what goes wrong while it runs is a result.
 * @throws HlvmError `call_not_run`, `call_in_doubt`: a run goes on only where it is known what its calls came to
 */
export async function executeCall(
  ready: ReadyCall,
  granted: Granted,
  turn: number,
  run: RunContext,
  signal: AbortSignal,
): Promise<Executed> {
  const started = performance.now();
  try {
    const result = await execute(ready, granted, turn, run, signal);
    return { result, status: outcomeStatusOf(result) };
  } catch (thrown) {
    const took = performance.now() - started;
    if (signal.aborted)
      return {
        result: failedResult("cancelled", "Cancelled: the run was stopped while this call ran.", took),
        status: OutcomeStatus.CANCELLED,
      };
    if (!(thrown instanceof HlvmError) || ["call_not_run", "call_in_doubt"].includes(thrown.reason)) throw thrown;
    return failureOf(thrown, took);
  }
}

function execute(ready: ReadyCall, { grant, answer }: Granted, turn: number, run: RunContext, signal: AbortSignal): Promise<ToolResult> {
  switch (ready.definition.executor) {
    case "memory":
      return executeInMemory(ready, grant, run, signal);
    case "orchestrator":
      return executeHere(ready, answer, turn, run, signal);
    case "sandbox":
      return executeInSandbox(() => readSandbox(ready, grant, turn, run, signal), ready, run, signal);
  }
}

function executeHere(
  ready: ReadyCall,
  answer: PersonAnswer | undefined,
  turn: number,
  run: RunContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (ready.definition === spawnWorker) return run.workers.spawn(ready, turn, run, signal);
  if (ready.definition.asksPerson !== undefined) return takePersonAnswer(ready, answer, turn, run);
  return ready.definition.name === "todo" ? writeTodo(ready, turn, run) : readResult(ready, run.log, run.sessionId);
}

async function executeInMemory(ready: ReadyCall, grant: string, run: RunContext, signal: AbortSignal): Promise<ToolResult> {
  const timeout = ready.definition.timeoutMilliseconds + MARGIN_MILLISECONDS;
  try {
    return await run.mesh.memory.execute(ready.call, grant, run.workspace, timeout, signal);
  } catch (thrown) {
    if (signal.aborted || !isDoubtful(thrown) || ready.definition.sideEffects === "read-only") throw thrown;
    return failedResult("outcome_unknown", `Memory did not answer (${thrown.message}). ${UNKNOWN_EFFECT}`);
  }
}

/** Whether the call may have taken effect although it failed. */
function isDoubtful(thrown: unknown): thrown is HlvmError {
  return thrown instanceof HlvmError && ["unavailable", "internal", "deadline_exceeded"].includes(thrown.code);
}

async function readSandbox(ready: ReadyCall, grant: string, turn: number, run: RunContext, signal: AbortSignal): Promise<ToolResult> {
  const { call, definition } = ready;
  const timeout = WAIT_MILLISECONDS + definition.timeoutMilliseconds + MARGIN_MILLISECONDS;
  let left = OUTPUT_LENGTH;
  let result: ToolResult | undefined;
  let position: number | undefined;
  try {
    for await (const event of run.mesh.sandbox.execute(call, grant, timeout, signal)) {
      if ("result" in event) result = event.result;
      else if ("waiting" in event) {
        if (event.waiting === position) continue;
        position = event.waiting;
        run.journal.appendDelta(turn, eventPayload("toolWaiting", { callId: call.callId, tool: call.tool, position }));
      } else {
        const text = event.output.text.slice(0, left);
        left -= text.length;
        const output = { stream: event.output.stream, text };
        if (text !== "") run.journal.appendDelta(turn, eventPayload("toolOutput", { callId: call.callId, output }));
      }
    }
  } catch (thrown) {
    if (result === undefined) throw thrown;
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

import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import { askPermission } from "./ask-permission.ts";
import { callId } from "./call-id.ts";
import { executeCall } from "./execute-call.ts";
import { memoryActivity } from "./memory-activity.ts";
import { prepareCall, type PreparedCall, type ReadyCall } from "./prepare-call.ts";
import { recordOutcome } from "./record-outcome.ts";
import { summarizeArguments } from "./summarize-arguments.ts";
import { failedResult } from "./tool-result.ts";
import { touchesSameFile } from "./touches-same-file.ts";

export interface CalledTools {
  /** One `tool_end` for each call, in the order of the calls, given to the journal already. */
  readonly ends: readonly EventPayload[];
  /** Resolves when every result and every outcome is durable; rejects where that fails. */
  readonly settled: Promise<unknown>;
  /** Whether the model repeats itself so that the run has to stop. */
  readonly isLooping: boolean;
}

/** Of a call among those of its turn, from 1. */
interface Place {
  readonly toolIndex: number;
  readonly toolTotal: number;
}

interface Finished {
  readonly result: ToolResult;
  readonly recorded?: Promise<void>;
}

/**
 * Decides on and runs the calls of one turn: all at once, except that calls which touch the same file keep their order.
 * When the run is stopped, every call still gets its result: that it was cancelled.
 * @param recorded resolves when the log has these calls, and everything that happened before them is on record: nothing
 * runs until then, while the decisions are asked for meanwhile
 * @throws HlvmError where policy cannot decide, or what `recorded` rejects with
 */
export async function callTools(
  parts: readonly ToolCallPart[],
  turn: number,
  recorded: Promise<unknown>,
  run: RunContext,
): Promise<CalledTools> {
  const failing = new AbortController();
  const signal = AbortSignal.any([run.signal, failing.signal]);
  let failure: { readonly cause: unknown } | undefined;

  const { prepared, isLooping } = prepareCalls(parts, turn, run);
  const place = (index: number): Place => ({ toolIndex: index + 1, toolTotal: parts.length });
  const finished: Promise<Finished>[] = [];
  for (const [index, one] of prepared.entries()) {
    const earlier = "call" in one ? finished.filter((_, before) => isBefore(prepared[before]!, one)) : [];
    const work = Promise.all(earlier).then(() =>
      "call" in one ? callTool(one, place(index), turn, recorded, run, signal) : { result: one.refusal },
    );
    finished[index] = work.catch((cause: unknown) => {
      if (!signal.aborted) failure = { cause };
      failing.abort();
      return { result: failedResult("cancelled", "Cancelled: the run was stopped before this call ran.") };
    });
  }

  const ends: EventPayload[] = [];
  const writes: Promise<void>[] = [];
  for (const [index, work] of finished.entries()) {
    const { result, recorded } = await work;
    const end = eventPayload("toolEnd", {
      callId: callId(run.runId, turn, index + 1),
      tool: parts[index]!.tool,
      result: run.results.limit(result),
    });
    const one = prepared[index]!;
    const activity = "call" in one && result.success ? memoryActivity(one) : undefined;
    ends.push(end);
    writes.push(run.journal.appendSoon(turn, end, ...(activity === undefined ? [] : [activity])));
    if (recorded !== undefined) writes.push(recorded);
  }
  const settled = Promise.all(writes);
  settled.catch(() => undefined);
  if (failure !== undefined) {
    await settled;
    throw failure.cause;
  }
  return { ends, settled, isLooping };
}

function isBefore(earlier: PreparedCall, later: ReadyCall): boolean {
  return "call" in earlier && touchesSameFile(earlier, later);
}

function prepareCalls(parts: readonly ToolCallPart[], turn: number, run: RunContext): { prepared: PreparedCall[]; isLooping: boolean } {
  let isLooping = false;
  const prepared = parts.map((part, index): PreparedCall => {
    if (index >= run.limits.toolCallsPerTurn)
      return {
        refusal: failedResult("unavailable", `Not run: a turn may have ${run.limits.toolCallsPerTurn} tool calls. Make fewer at a time.`),
      };
    const name = { sessionId: run.sessionId, runId: run.runId, callId: callId(run.runId, turn, index + 1) };
    const one = prepareCall(part, name, run.prefix.tools);
    const seen = run.detector.see(part.tool, "call" in one ? one.call.argumentsJson : part.argumentsJson);
    if (seen === "run" && !isLooping) return one;
    isLooping ||= seen === "stop";
    return {
      refusal: failedResult(
        "invalid_arguments",
        "Not run: you have made this very call several times in a row. Its result will not change. Do something else, or answer with what you know.",
      ),
    };
  });
  return { prepared, isLooping };
}

async function callTool(
  ready: ReadyCall,
  place: Place,
  turn: number,
  before: Promise<unknown>,
  run: RunContext,
  signal: AbortSignal,
): Promise<Finished> {
  signal.throwIfAborted();
  const { call } = ready;
  const permission = await askPermission(call, turn, run, signal);
  if ("denial" in permission) return { result: permission.denial };
  const start = eventPayload("toolStart", {
    callId: call.callId,
    tool: call.tool,
    argumentsJson: call.argumentsJson,
    argumentsSummary: summarizeArguments(ready.value),
    ...place,
  });
  return run.slots.use(async () => {
    // The effect may happen only when the log says that it is about to.
    await before;
    if (!signal.aborted) void run.journal.appendSoon(turn, start);
    const started = performance.now();
    const { result, status } = signal.aborted
      ? { result: failedResult("cancelled", "Cancelled before it ran."), status: OutcomeStatus.CANCELLED }
      : await executeCall(ready, permission.grant, turn, run, signal);
    const recorded = recordOutcome(run.mesh.audit, {
      sessionId: call.sessionId,
      runId: call.runId,
      callId: call.callId,
      status,
      summary: result.summary,
      durationMilliseconds: Math.round(performance.now() - started),
    });
    recorded.catch(() => undefined);
    return { result, recorded };
  });
}

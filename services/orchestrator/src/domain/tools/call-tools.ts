import { posix } from "node:path";
import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { withTrust } from "../context/provenance.ts";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import { askToKeep } from "./ask-to-keep.ts";
import { callId } from "./call-id.ts";
import { callTool, type Place, type TurnCalls } from "./call-tool.ts";
import { isInDoubt } from "./execute-in-sandbox.ts";
import { prepareCall, type PreparedCall, type ReadyCall } from "./prepare-call.ts";
import { isHandOver } from "../run/interruption.ts";
import { redactResult } from "../secrets/redact-mesh.ts";
import { holdsSecretMark, type RunSecrets } from "../secrets/run-secrets.ts";
import { failedResult } from "./tool-result.ts";

export interface CalledTools {
  /** One `tool_end` for each call that had none yet, in the order of the calls, given to the journal already. */
  readonly ends: readonly EventPayload[];
  /** Whether the model repeats itself so that the run has to stop. */
  readonly isLooping: boolean;
}

/**
 * Decides on and runs the calls of one turn: all at once, except that calls which touch the same file keep their order.
 * Nothing runs before the log has these calls, and everything that happened earlier is on record; the decisions are asked
 * for meanwhile. When the run is stopped, every call still gets its result: that it was cancelled.
 * @param ended of a turn that was taken over from another process: what the log says that calls of it ended with
 * @throws HlvmError where policy cannot decide, or something could not be put on record; Interruption where the run is handed over
 */
export async function callTools(
  parts: readonly ToolCallPart[],
  turn: number,
  run: RunContext,
  ended?: ReadonlyMap<string, ToolResult>,
): Promise<CalledTools> {
  const failing = new AbortController();
  const signal = AbortSignal.any([run.signal, failing.signal]);
  let mayHaveAsked = false;
  const onStopped = (): void => void (mayHaveAsked = true);
  const calls: TurnCalls = { turn, before: run.journal.records.written, isTakenOver: ended !== undefined, run, signal, onStopped };
  let failure: { readonly cause: unknown } | undefined;

  run.workers.beginTurn(parts.flatMap(({ tool }, index) => (ended?.has(callId(run.runId, turn, index + 1)) === true ? [] : [tool])));
  const { prepared, isLooping } = prepareCalls(parts, turn, run);
  const place = (index: number): Place => ({ toolIndex: index + 1, toolTotal: parts.length });
  const call = (one: ReadyCall, where: Place): Promise<ToolResult> => run.waits.call(() => callTool(one, where, calls));
  const keep = async (one: ReadyCall, where: Place): Promise<ToolResult> => {
    const result = await call(one, where);
    const { callId, tool } = one.call;
    await run.journal.append(turn, eventPayload("toolEnd", { callId, tool, result }));
    return result;
  };
  const results: Promise<ToolResult>[] = [];
  for (const [index, one] of prepared.entries()) {
    const known = ended?.get(callId(run.runId, turn, index + 1));
    if (known !== undefined) {
      results[index] = Promise.resolve(known);
      continue;
    }
    const earlier = "call" in one ? results.filter((_, other) => isBefore(prepared[other]!, one)) : [];
    const work = Promise.all(earlier).then(() =>
      "call" in one
        ? call(one, place(index)).then((result) => askToKeep(result, one.call, (ready) => keep(ready, place(index))))
        : redactResult(one.refusal, run.secrets),
    );
    results[index] = work.catch((cause: unknown) => {
      if (!signal.aborted) failure = { cause };
      failing.abort(cause);
      if (isHandOver(signal.reason)) throw signal.reason;
      if (isInDoubt(cause)) return failedResult("outcome_unknown", cause.message);
      return failedResult("cancelled", "Cancelled: the run was stopped before this call ran.");
    });
  }

  for (const work of results) work.catch(() => undefined);
  const ends: EventPayload[] = [];
  for (const [index, work] of results.entries()) {
    if (ended?.has(callId(run.runId, turn, index + 1)) === true) continue;
    const result = await work;
    const one = prepared[index]!;
    const limited = run.results.limit(result);
    const end = eventPayload("toolEnd", {
      callId: callId(run.runId, turn, index + 1),
      tool: parts[index]!.tool,
      result: "call" in one ? withTrust(limited, one.definition) : limited,
      servedFromSequence: run.recorded?.servedFrom(callId(run.runId, turn, index + 1)),
    });
    const activity = "call" in one && result.success ? memoryActivity(one, run.secrets) : undefined;
    ends.push(end);
    void run.journal.appendSoon(turn, end, ...(activity === undefined ? [] : [activity]));
  }
  // Where policy cannot be told, what was asked expires by itself; without its run an answer has no effect.
  if (mayHaveAsked) run.journal.records.add(run.mesh.policy.withdrawApprovals(run.runId).catch(() => undefined));
  if (failure !== undefined) {
    await run.journal.records.settle(run.signal);
    throw failure.cause;
  }
  return { ends, isLooping };
}

/** A file that was written with a mark in it would have lost the secret that the mark stands for. */
function refuseMarks(one: PreparedCall): PreparedCall {
  if (!("call" in one) || one.definition.category !== "write" || !holdsSecretMark(one.call.argumentsJson)) return one;
  return {
    refusal: failedResult(
      "invalid_arguments",
      "Not run: the arguments hold the mark of a secret that you were not shown, and the file would lose the secret. Change only other lines, or tell the user to allow the secret with --allow-secret and the four characters at the end of its mark.",
    ),
  };
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
    const name = { sessionId: run.workspaceSessionId, runId: run.runId, callId: callId(run.runId, turn, index + 1) };
    const one = refuseMarks(prepareCall(part, name, run.prefix.tools));
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

/** What people are shown of a memory tool that changed something. */
function memoryActivity({ definition, value }: ReadyCall, secrets: RunSecrets): EventPayload | undefined {
  if (definition.executor !== "memory" || definition.sideEffects === "read-only" || typeof value.text !== "string") return undefined;
  return eventPayload("memoryActivity", { written: [secrets.redact(value.text)] });
}

/** Whether two calls of one turn must run in their order: both are about one file, and one of them writes it. */
function touchesSameFile(earlier: ReadyCall, later: ReadyCall): boolean {
  if (earlier.definition.category !== "write" && later.definition.category !== "write") return false;
  const path = fileOf(earlier);
  return path !== undefined && path === fileOf(later);
}

function fileOf({ value }: ReadyCall): string | undefined {
  return typeof value.path === "string" ? posix.join("/workspace", value.path.replace(/^\/workspace\//, "")) : undefined;
}

import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { DecidingStep } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event, Replay } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { sessionTurns } from "../fold/without-undone.ts";
import { callId } from "../tools/call-id.ts";

interface RecordedResult {
  readonly sequence: bigint;
  readonly result: ToolResult;
}

/** Whether a call that was allowed only reads: by its tool, or since policy allowed it as one that does. */
export function onlyReads(tool: string, step: DecidingStep): boolean {
  const definition = findNativeTool(tool);
  if (definition === undefined || definition.executor === "orchestrator") return false;
  return definition.sideEffects === "read-only" || step === DecidingStep.READ_ONLY;
}

/**
 * Of a run that goes on from a turn of a recording: what the recorded session read from there until something was written. A call
 * that reads the same gets the same, as long as the run has written nothing either; from then on everything runs.
 */
export class RecordedResults {
  readonly #results = new Map<string, RecordedResult>();
  readonly #served = new Map<string, bigint>();
  #hasWritten = false;

  /** @param events of the recording, all that count */
  constructor(events: readonly Event[], { turn }: Pick<Replay, "turn">) {
    const before = sessionTurns(events)[turn - 2]?.lastSequence ?? 0n;
    const replayed = events.filter(({ sequence }) => sequence > before);
    const until = writingTurn(replayed);
    const keys = new Map<string, string>();
    for (const { sequence, runId, turn: place, payload } of replayed) {
      if (sequence === until) break;
      if (payload.case === "assistantMessage")
        for (const [index, call] of payload.value.toolCalls.entries())
          keys.set(callId(runId, place, index + 1), keyOf(call.tool, call.argumentsJson));
      if (payload.case !== "toolEnd" || payload.value.result?.success !== true) continue;
      const key = keys.get(payload.value.callId);
      if (key !== undefined && !this.#results.has(key)) this.#results.set(key, { sequence, result: payload.value.result });
    }
  }

  /**
   * What a call that is about to run is given instead; undefined where it has to run.
   * @param argumentsJson with marks in the place of secrets, as logs have them
   */
  take(call: { readonly callId: string; readonly tool: string; readonly argumentsJson: string }, reads: boolean): ToolResult | undefined {
    if (!reads) this.#hasWritten = true;
    const recorded = this.#hasWritten ? undefined : this.#results.get(keyOf(call.tool, call.argumentsJson));
    if (recorded !== undefined) this.#served.set(call.callId, recorded.sequence);
    return recorded?.result;
  }

  /** The event whose result a call was given; 0 where it ran. */
  servedFrom(callId: string): bigint {
    return this.#served.get(callId) ?? 0n;
  }
}

/** The answer of the first turn in which something was called that may write: what ran beside it may have read either state. */
function writingTurn(events: readonly Event[]): bigint | undefined {
  const steps = new Map<string, DecidingStep>();
  let answer: bigint | undefined;
  for (const { sequence, payload } of events) {
    if (payload.case === "assistantMessage") answer = sequence;
    if (payload.case === "permissionCheck") steps.set(payload.value.callId, payload.value.step);
    if (payload.case === "toolStart" && !onlyReads(payload.value.tool, steps.get(payload.value.callId) ?? DecidingStep.UNSPECIFIED))
      return answer;
  }
  return undefined;
}

function keyOf(tool: string, argumentsJson: string): string {
  try {
    return `${tool} ${canonicalArguments(argumentsJson.trim() === "" ? "{}" : argumentsJson).json}`;
  } catch {
    return `${tool} ${argumentsJson}`;
  }
}

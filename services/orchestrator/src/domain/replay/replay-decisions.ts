import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Event, PermissionCheck } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { TrustFloor } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { ImaginedCall } from "../loop/ports.ts";
import type { RunContext } from "../loop/run-context.ts";
import { retryWhileAway } from "../loop/retry-while-away.ts";
import { callId } from "../tools/call-id.ts";
import { summarizeJson } from "../tools/summarize-arguments.ts";
import { recordedTurns } from "./recorded-turns.ts";

/** Put to policy at a time. */
const BATCH = 100;
const REDACTED = /\[secret: /;

interface RecordedCall extends ImaginedCall {
  readonly sequence: bigint;
  readonly callId: string;
  readonly check: PermissionCheck;
}

/**
 * Puts the calls of a recording to policy, under the settings of this run, and writes down what it says now beside what it said
 * then. Calls on which nothing was decided, since their arguments were wrong, are passed over.
 * @param done calls that the run has put to it already
 */
export async function replayDecisions(
  events: readonly Event[],
  run: Pick<RunContext, "model" | "mesh" | "journal" | "limits" | "signal">,
  done: number,
): Promise<void> {
  const calls = recordedCalls(events, run).slice(done);
  for (let at = 0; at < calls.length; at += BATCH) {
    run.signal.throwIfAborted();
    const batch = calls.slice(at, at + BATCH);
    const verdicts = await retryWhileAway(
      () => run.mesh.policy.judge(batch.map(imagined), run.signal),
      run.limits.serviceMilliseconds,
      run.signal,
    );
    if (verdicts.length !== batch.length) throw verdictsMissing();
    const payloads = batch.map((call, index): EventPayload => {
      const { decision, step, rule, reason } = verdicts[index]!;
      const { tool, argumentsJson, check } = call;
      return eventPayload("callReplayed", {
        sequence: call.sequence,
        callId: call.callId,
        tool,
        argumentsSummary: summarizeJson(argumentsJson),
        recorded: { decision: check.decision, step: check.step, rule: check.rule, reason: check.reason },
        now: { decision, step, rule, reason },
        redacted: REDACTED.test(argumentsJson),
      });
    });
    await run.journal.append(0, ...payloads);
  }
}

function imagined({ tool, argumentsJson, trustFloor }: RecordedCall): ImaginedCall {
  return { tool, argumentsJson, trustFloor };
}

function recordedCalls(events: readonly Event[], { model }: Pick<RunContext, "model">): RecordedCall[] {
  const checks = new Map<string, PermissionCheck>();
  for (const { payload } of events)
    // The first one is what policy said; another tells that a run which was taken over asked again.
    if (payload.case === "permissionCheck" && !checks.has(payload.value.callId)) checks.set(payload.value.callId, payload.value);
  const calls: RecordedCall[] = [];
  for (const { event, message, conversation } of recordedTurns(events, model)) {
    const trustFloor = conversation.floor;
    for (const [index, call] of message.toolCalls.entries()) {
      const id = callId(event.runId, event.turn, index + 1);
      const check = checks.get(id);
      if (check !== undefined) calls.push({ sequence: event.sequence, callId: id, check, ...asDecided(call, trustFloor) });
    }
  }
  return calls;
}

function asDecided({ tool, argumentsJson }: ToolCallPart, trustFloor: TrustFloor | undefined): ImaginedCall {
  const json = argumentsJson.trim() === "" ? "{}" : argumentsJson;
  try {
    return { tool, argumentsJson: canonicalArguments(json).json, trustFloor };
  } catch {
    return { tool, argumentsJson: json, trustFloor };
  }
}

function verdictsMissing(): HlvmError {
  return new HlvmError({ code: "internal", reason: "verdict_missing", message: "Policy answered without a verdict for each call." });
}

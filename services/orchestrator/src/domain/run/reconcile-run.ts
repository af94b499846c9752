import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";
import type { Audit, Outcome, Sandbox } from "../loop/ports.ts";
import { callId } from "../tools/call-id.ts";
import { keepCallId } from "../tools/keep-call-id.ts";
import { outcomeStatusOf } from "../tools/outcome-status.ts";
import type { UnreconciledRun } from "./unreconciled-runs.ts";

/** So often a sandbox that does not answer, or says that a call still runs, is asked again: about an hour. */
const RECEIPT_ATTEMPTS = 15;
/** What policy answers where there is nothing to record: no such call, one that was not allowed, or one that has its outcome. */
const NOTHING_TO_RECORD = new Set(["intent_not_found", "call_not_allowed", "outcome_already_recorded"]);

const UNKNOWN = "The run ended while this call was under way. It is not known whether it took effect.";
const NOT_RUN = "The run ended before this call ran.";

type KnownOutcome = Pick<Outcome, "status" | "summary" | "durationMilliseconds">;

export interface ReconcilePorts {
  readonly audit: Audit;
  readonly sandbox: Pick<Sandbox, "receipt">;
}

/**
 * Gives the calls of a run that is over the outcomes that the audit log lacks: what the log says, else what the sandbox's
 * receipt says, else that it is not known. Doing it again changes nothing, since policy takes one outcome a call.
 * @param events of the run: its answers and the ends of its tools
 * @returns whether nothing is left to be done
 */
export async function reconcileRun(
  run: UnreconciledRun,
  events: readonly Event[],
  { audit, sandbox }: ReconcilePorts,
  signal: AbortSignal,
): Promise<boolean> {
  let isDone = true;
  for (const call of callsOf(run.runId, events)) {
    if (signal.aborted) return false;
    const isKnown = call.end !== undefined && call.end.errorCode !== "outcome_unknown";
    const known = isKnown ? outcomeOf(call.end) : await askForReceipt(call, run, sandbox);
    const isRecorded =
      known !== undefined && (await record({ sessionId: run.workspaceSessionId, runId: run.runId, callId: call.callId, ...known }, audit));
    isDone &&= isRecorded;
  }
  return isDone;
}

interface MadeCall {
  readonly callId: string;
  readonly tool: string;
  readonly end?: ToolResult;
}

/** A call may have asked for a second one, to keep what it changed; that one ends before it. */
function callsOf(runId: string, events: readonly Event[]): MadeCall[] {
  const ends = new Map<string, ToolResult>();
  for (const { payload } of events)
    if (payload.case === "toolEnd" && payload.value.result !== undefined) ends.set(payload.value.callId, payload.value.result);
  return events.flatMap(({ turn, payload }) => {
    if (payload.case !== "assistantMessage") return [];
    return payload.value.toolCalls.flatMap(({ tool }, index) => {
      const id = callId(runId, turn, index + 1);
      const [end, kept] = [ends.get(id), ends.get(keepCallId(id))];
      const made = { callId: id, tool, end };
      const mayHaveKept = kept !== undefined || end === undefined || end.errorCode === "cancelled";
      return mayHaveKept ? [made, { callId: keepCallId(id), tool, end: kept }] : [made];
    });
  });
}

/** @returns undefined where it has to be asked again later */
async function askForReceipt(call: MadeCall, run: UnreconciledRun, sandbox: ReconcilePorts["sandbox"]): Promise<KnownOutcome | undefined> {
  const unknown = { status: OutcomeStatus.UNKNOWN, summary: UNKNOWN, durationMilliseconds: 0 };
  // Only the sandbox keeps receipts.
  if (findNativeTool(call.tool)?.executor !== "sandbox") return unknown;
  const later = run.attempts < RECEIPT_ATTEMPTS ? undefined : unknown;
  try {
    const receipt = await sandbox.receipt(run.workspaceSessionId, call.callId);
    if (receipt.state === "done") return outcomeOf(receipt.result);
    if (receipt.state === "never_started") return { status: OutcomeStatus.CANCELLED, summary: NOT_RUN, durationMilliseconds: 0 };
    return receipt.state === "running" ? later : unknown;
  } catch (thrown) {
    return thrown instanceof HlvmError && thrown.reason === "session_not_found" ? unknown : later;
  }
}

function outcomeOf(result: ToolResult): KnownOutcome {
  const { summary, durationMilliseconds } = result;
  return { status: outcomeStatusOf(result), summary, durationMilliseconds };
}

async function record(outcome: Outcome, audit: Audit): Promise<boolean> {
  try {
    await audit.recordOutcome(outcome);
    return true;
  } catch (thrown) {
    return thrown instanceof HlvmError && NOTHING_TO_RECORD.has(thrown.reason);
  }
}

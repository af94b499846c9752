import { setTimeout as sleep } from "node:timers/promises";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, Decision, type Approval, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { ToolCall } from "../loop/ports.ts";
import { failedResult } from "./tool-result.ts";

/** What is waited longer than an approval says that it lasts, so that policy's own answer comes first. */
const MARGIN_MILLISECONDS = 10_000;
/** Where an approval does not say: the seeds' limit for a person's answer. */
const DEFAULT_WAIT_MILLISECONDS = 300_000;
const RETRY_MILLISECONDS = 500;
/** Policy's words for a decision or an approval whose answer was given before. */
const ANSWER_LOST = new Set(["call_already_decided", "approval_used"]);

/** The grant, or what the model is told instead. */
export type Permission = { readonly grant: string } | { readonly denial: ToolResult };

/**
 * Has policy decide on a call, and waits for a person where it says so.
 * @throws HlvmError where policy cannot decide: nothing may run then
 */
export async function askPermission(call: ToolCall, turn: number, run: RunContext, signal: AbortSignal): Promise<Permission> {
  try {
    const verdict = await run.slots.use(() => decide(call, run, signal));
    if (verdict.decision !== Decision.ASK) {
      void run.journal.appendSoon(turn, checkOf(call, verdict));
      return permissionOf(call, verdict);
    }
    if (verdict.approval === undefined) throw unusable("it asks for an approval without naming one");
    await run.journal.append(turn, checkOf(call, verdict));
    const answer = await awaitAnswer(verdict.approval, run, signal);
    if (answer === undefined) return await denyUnanswered(call, turn, run);
    // The wait may have been long: the append tells whether the run still holds its lease.
    await run.journal.append(turn, checkOf(call, answer));
    return permissionOf(call, answer);
  } catch (thrown) {
    if (!(thrown instanceof HlvmError) || !ANSWER_LOST.has(thrown.reason)) throw thrown;
    return { denial: await settleLostAnswer(call, run) };
  }
}

/** Policy gives each grant once: where its answer did not arrive the call never runs, and the audit log is told so. */
async function settleLostAnswer(call: ToolCall, run: RunContext): Promise<ToolResult> {
  const result = failedResult(
    "unavailable",
    `Policy's answer to this call was lost on the way, so ${call.tool} did not run. You may make the call again.`,
  );
  const { sessionId, runId, callId } = call;
  const outcome = { sessionId, runId, callId, status: OutcomeStatus.REFUSED, summary: result.summary, durationMilliseconds: 0 };
  // Refused where the lost answer was a denial: there is no outcome then.
  await run.mesh.audit.recordOutcome(outcome).catch(() => undefined);
  return result;
}

async function decide(call: ToolCall, run: RunContext, signal: AbortSignal): Promise<Verdict> {
  try {
    return await run.mesh.policy.decide(call, run.settings, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof HlvmError) || thrown.code !== "unavailable") throw thrown;
    await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => signal.throwIfAborted());
    return run.mesh.policy.decide(call, run.settings, signal);
  }
}

function permissionOf(call: ToolCall, verdict: Verdict): Permission {
  if (verdict.decision === Decision.ALLOW && verdict.grant !== "") return { grant: verdict.grant };
  if (verdict.decision !== Decision.DENY)
    throw unusable(`its verdict is ${verdict.decision} with${verdict.grant === "" ? "out" : ""} a grant`);
  const what = verdict.step === DecidingStep.APPROVAL ? "Not approved" : "Policy denied this call";
  const rule = verdict.rule === "" ? "" : ` (${verdict.rule})`;
  return { denial: denied(call, `${what}${rule}: ${verdict.reason}`) };
}

async function denyUnanswered(call: ToolCall, turn: number, run: RunContext): Promise<Permission> {
  const reason = "Nobody answered in time.";
  const value = { callId: call.callId, tool: call.tool, decision: Decision.DENY, step: DecidingStep.APPROVAL, reason };
  await run.journal.append(turn, eventPayload("permissionCheck", value));
  return { denial: denied(call, reason) };
}

async function awaitAnswer(approval: Approval, run: RunContext, signal: AbortSignal): Promise<Verdict | undefined> {
  const expires = approval.expiresAt === undefined ? Date.now() + DEFAULT_WAIT_MILLISECONDS : timestampDate(approval.expiresAt).getTime();
  while (Date.now() < expires + MARGIN_MILLISECONDS) {
    try {
      const verdict = await run.mesh.policy.awaitApproval(approval.approvalId, signal);
      if (verdict !== undefined) return verdict;
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof HlvmError) || thrown.code !== "unavailable") throw thrown;
      await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
  return undefined;
}

function checkOf({ callId, tool }: ToolCall, { decision, step, rule, reason, approval }: Verdict): EventPayload {
  return eventPayload("permissionCheck", { callId, tool, decision, step, rule, reason, approval });
}

function denied(call: ToolCall, why: string): ToolResult {
  return failedResult(
    "permission_denied",
    `${why.trim()}\n${call.tool} did not run. Do not try it again and do not look for a way around; go on without it, or tell the user what you could not do.`,
  );
}

function unusable(what: string): HlvmError {
  return new HlvmError({
    code: "internal",
    reason: "verdict_unusable",
    message: `Policy's answer cannot be used: ${what}.`,
    advice: "Check that policy and orchestrator are of the same version.",
  });
}

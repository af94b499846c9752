import { ApprovalKind, Decision, type Approval, type ApprovalPreview, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";
import type { ToolCall } from "../loop/ports.ts";
import { retryWhileAway } from "../loop/retry-while-away.ts";
import type { TurnCalls } from "./call-tool.ts";
import { eventPayload } from "../log/event-payload.ts";
import { planSteps } from "../work/plan-steps.ts";
import { permissionCheck } from "./permission-check.ts";
import { permissionOf, type Permission } from "./permission.ts";
import { unlessAnswerLost } from "./unless-answer-lost.ts";
import { tell } from "./write-todo.ts";

/**
 * Has policy decide on a call.
 * @param repeats the call that it would make once more, of which nobody knows whether it took effect
 * @returns the approval that has to be waited for, where policy wants a person to decide
 * @throws HlvmError where policy cannot decide: nothing may run then
 */
export function askPermission(call: ToolCall, calls: TurnCalls, repeats?: string): Promise<Permission | { readonly approval: Approval }> {
  const { turn, run, signal } = calls;
  return unlessAnswerLost(call, calls, async () => {
    // Where its answer was lost, policy gives it again.
    const { verdict } = await retryWhileAway(
      () => run.outcomes.recordWith((ended) => run.mesh.policy.decide(call, { floor: run.context.floor, repeats, ended }, signal)),
      run.limits.serviceMilliseconds,
      signal,
    );
    const check = permissionCheck(call, verdict);
    if (verdict.decision !== Decision.ASK || verdict.approval === undefined) {
      void run.journal.appendSoon(turn, check);
      return permissionOf(call, verdict);
    }
    if (verdict.approval.kind === ApprovalKind.PLAN) await tellPlan(call, calls);
    const preview = await previewFor(call, verdict.approval, calls);
    await run.journal.append(turn, preview === undefined ? check : permissionCheck(call, withPreview(verdict, preview)));
    return { approval: verdict.approval };
  });
}

/**
 * What a call that writes a file would change is told with the question, and the grant holds the executor to the file as it was then.
 * Where it cannot be told the person decides by the arguments, as of any other call.
 */
async function previewFor(call: ToolCall, { approvalId }: Approval, { run, signal }: TurnCalls): Promise<ApprovalPreview | undefined> {
  const definition = findNativeTool(call.tool);
  if (definition?.category !== "write" || definition.executor !== "sandbox") return undefined;
  try {
    return await run.mesh.policy.attachPreview(approvalId, await run.mesh.sandbox.preview(call, signal), signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function withPreview(verdict: Verdict, preview: ApprovalPreview): Verdict {
  return { ...verdict, approval: verdict.approval && { ...verdict.approval, preview } };
}

/** Once, however often whoever goes on with the run asks again. */
async function tellPlan({ callId, argumentsJson }: ToolCall, { turn, run }: TurnCalls): Promise<void> {
  if (run.context.conversation.work.proposedBy === callId) return;
  const { plan } = JSON.parse(run.secrets.redactArguments(argumentsJson)) as { readonly plan: string };
  await tell([eventPayload("planCreated", { callId, text: plan, steps: planSteps(plan) })], turn, run);
}

import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Decision, type Approval, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { RunContext } from "../loop/run-context.ts";
import type { ToolCall } from "../loop/ports.ts";
import type { TurnCalls } from "./call-tool.ts";
import { permissionCheck } from "./permission-check.ts";
import { permissionOf, type Permission } from "./permission.ts";
import { unlessAnswerLost } from "./unless-answer-lost.ts";

const RETRY_MILLISECONDS = 500;
/** Of a call whose answer was lost: policy gives it again. While nobody takes the connection, the call itself waits. */
const ATTEMPTS = 5;

/**
 * Has policy decide on a call. @returns the approval that has to be waited for, where policy wants a person to decide
 * @throws HlvmError where policy cannot decide: nothing may run then
 */
export function askPermission(call: ToolCall, calls: TurnCalls): Promise<Permission | { readonly approval: Approval }> {
  const { turn, run, signal } = calls;
  return unlessAnswerLost(call, calls, async () => {
    const verdict = await decide(call, run, signal);
    const check = permissionCheck(call, verdict);
    if (verdict.decision !== Decision.ASK || verdict.approval === undefined) {
      run.records.add(run.journal.appendSoon(turn, check));
      return permissionOf(call, verdict);
    }
    await run.journal.append(turn, check);
    return { approval: verdict.approval };
  });
}

async function decide(call: ToolCall, run: RunContext, signal: AbortSignal): Promise<Verdict> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run.mesh.policy.decide(call, run.context.floor, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      const isUnanswered = thrown instanceof HlvmError && (thrown.code === "unavailable" || thrown.code === "deadline_exceeded");
      if (!isUnanswered || attempt === ATTEMPTS) throw thrown;
      await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ApprovalAnswer, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ChaosMesh } from "../chaos/chaos-mesh.ts";

const LOOK_MILLISECONDS = 500;
const CALL_DEADLINE_MILLISECONDS = 10_000;
/** What a person is told while a process is replaced, and tries again at once. */
const TRANSIENT = new Set([Code.Unavailable, Code.DeadlineExceeded]);

/**
 * Allows whatever is asked, as a person does who takes a while, until the signal ends it.
 * @param afterMilliseconds how long a question waits: longer than a run waits before it is parked
 * @returns what calls failed for, besides that nobody was there
 */
export async function answerApprovals(mesh: ChaosMesh, afterMilliseconds: number, signal: AbortSignal): Promise<string[]> {
  const policy = createClient(PolicyService, mesh.connect());
  const options = { timeoutMs: CALL_DEADLINE_MILLISECONDS };
  const since = new Map<string, number>();
  const faults = new Set<string>();
  while (!signal.aborted) {
    try {
      const { approvals } = await policy.listApprovals({}, options);
      for (const { approvalId, argumentsHash } of approvals) {
        const began = since.get(approvalId) ?? performance.now();
        since.set(approvalId, began);
        if (performance.now() - began < afterMilliseconds) continue;
        await policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE, argumentsHash }, options);
      }
    } catch (thrown) {
      const { code, rawMessage } = ConnectError.from(thrown);
      // An answer whose confirmation was lost has arrived: the second one comes too late.
      if (!TRANSIENT.has(code) && code !== Code.FailedPrecondition) faults.add(`an approval: ${Code[code]}: ${rawMessage}`);
    }
    await sleep(LOOK_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  }
  return [...faults];
}

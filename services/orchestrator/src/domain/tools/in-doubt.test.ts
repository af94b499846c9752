import { Code, ConnectError } from "@connectrpc/connect";
import { expect, describe, it } from "vitest";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Decision, DecidingStep } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { refuse } from "../../testing/refuse.ts";
import type { SaidCall } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator({ HLVM_IN_DOUBT: "ask" });
const make: SaidCall = { id: "make", tool: "shell_exec", arguments: { command: "make" } };

/** A sandbox that cuts the first attempt of a call off, and knows no more of it. Policy has a person asked of the second. */
function cutOff(answer: Decision): void {
  const { behaviour } = test.fake;
  const { execute, decide } = behaviour;
  behaviour.execute = (request, context) =>
    request.call!.callId.endsWith(".again") ? execute(request, context) : refuse(new ConnectError("connection lost", Code.Unavailable));
  behaviour.receipt = () => ({ state: State.UNKNOWN });
  behaviour.decide = (request) =>
    request.repeatsCallId === "" ? decide(request) : { decision: Decision.ASK, approval: { approvalId: crypto.randomUUID() } };
  behaviour.awaitApproval = () =>
    Promise.resolve({ decision: answer, step: DecidingStep.APPROVAL, ...(answer === Decision.ALLOW ? { grant: "granted" } : {}) });
  test.answers(["", [make]], ["Done."]);
}

const calls = (): string[] => test.fake.seen.executed.map(({ call }) => call!.callId.replace(/^[^.]*/, "r"));

describe("a call of which nobody knows whether it took effect, where a person is to be asked", () => {
  it("is made once more under an id of its own after a yes, and both are on record", async () => {
    cutOff(Decision.ALLOW);
    const { stopped, results } = await test.run();
    expect(results).toMatchObject([{ success: true }]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect(calls()).toEqual(["r.1.1", "r.1.1.again"]);
    expect(test.fake.seen.decided.map(({ repeatsCallId }) => repeatsCallId.replace(/^[^.]+/, "r"))).toEqual(["", "r.1.1"]);
    await expect.poll(() => test.fake.seen.outcomes.map(({ status }) => status)).toEqual([OutcomeStatus.UNKNOWN, OutcomeStatus.SUCCEEDED]);
  });

  it("is not made again after a no: the model is told that it is not known", async () => {
    cutOff(Decision.DENY);
    const { stopped, results } = await test.run();
    expect(results).toMatchObject([{ success: false, errorCode: "outcome_unknown" }]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect(calls()).toEqual(["r.1.1"]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApprovalAnswer, ApprovalState, DecidingStep, Decision, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../../testing/start-test-policy.ts";
import { callOf, failure, shell } from "../../testing/test-calls.ts";

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

const forRun = ({ sessionId, runId }: Pick<Approval, "sessionId" | "runId">) =>
  service.forRun({ principal: testPrincipal, sessionId, runId });

async function ask(call = callOf(shell("npm test"))): Promise<Approval> {
  const { verdict } = await service.policy.decide({ call }, forRun(call));
  return verdict!.approval!;
}

const answer = async (approvalId: string): Promise<Approval> =>
  (await service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, service.as(testPrincipal))).approval!;
const take = async (approval: Approval) =>
  (await service.policy.awaitApproval({ approvalId: approval.approvalId }, forRun(approval))).verdict!;

async function letExpire(approvalId: string, howLongAgo: string): Promise<void> {
  const sql = "UPDATE approval SET expires_at = now() - $2::interval WHERE approval_id = $1";
  await service.database.database.query(sql, [approvalId, howLongAgo]);
}

async function argumentsOf(approvalId: string): Promise<unknown> {
  const sql = "SELECT arguments_json FROM approval WHERE approval_id = $1";
  return (await service.database.database.query<{ arguments_json: string }>(sql, [approvalId]))[0]!.arguments_json;
}

describe("the arguments of an approval", () => {
  it("are forgotten an hour after it expired, whether it was answered or not", async () => {
    const [answered, unanswered, recent] = [await ask(), await ask(), await ask()];
    await answer(answered.approvalId);
    for (const { approvalId } of [answered, unanswered]) await letExpire(approvalId, "61 minutes");
    await letExpire(recent.approvalId, "59 minutes");
    await ask();
    expect(await argumentsOf(answered.approvalId)).toBe("");
    expect(await argumentsOf(unanswered.approvalId)).toBe("");
    expect(await argumentsOf(recent.approvalId)).toBe('{"command":"npm test"}');
  });

  it("are no longer to be had where nobody took the answer in time: the call is denied, and the record says so", async () => {
    for (const isAnswered of [true, false]) {
      const call = callOf(shell("npm test"));
      const approval = await ask(call);
      const { approvalId } = approval;
      if (isAnswered) await answer(approvalId);
      await letExpire(approvalId, "2 hours");
      await ask();
      expect(await take(approval)).toMatchObject({
        decision: Decision.DENY,
        step: DecidingStep.APPROVAL,
        rule: "approval: expired",
        grant: "",
      });
      const { events } = await service.audit.query({ sessionId: call.sessionId }, service.as(testPrincipal));
      expect(events).toMatchObject([{ decision: Decision.DENY, rule: "approval: expired", argumentsJson: "" }]);
      expect(events[0]!.argumentsHash).not.toBe("");
    }
  });

  it("stay for an answer that is taken late but in time", async () => {
    const approval = await ask();
    await answer(approval.approvalId);
    await letExpire(approval.approvalId, "30 minutes");
    expect(await take(approval)).toMatchObject({ decision: Decision.ALLOW });
  });
});

describe("an answer", () => {
  it("is good for nothing where the call was decided otherwise in the meantime", async () => {
    const call = callOf(shell("npm test"));
    const approval = await ask(call);
    const { approvalId } = approval;
    await decideOtherwise(call);
    expect(await answer(approvalId)).toMatchObject({ state: ApprovalState.APPROVED });
    expect(await failure(take(approval))).toMatchObject({ code: "already_exists", reason: "call_already_decided" });
    expect(await argumentsOf(approvalId)).toBe("");
    expect(await failure(take(approval))).toMatchObject({ code: "failed_precondition", reason: "approval_used" });
  });
});

describe("what waits", () => {
  it("is listed of every session, however much another one asks", async () => {
    const flood = callOf(shell("npm test"));
    await Promise.all(Array.from({ length: 210 }, (_, index) => ask({ ...flood, callId: `flood.${index}` })));
    const { approvalId } = await ask();
    const { approvals } = await service.policy.listApprovals({}, service.as(testPrincipal));
    expect(approvals).toHaveLength(200);
    expect(approvals.map((one) => one.approvalId)).toContain(approvalId);
    const times = approvals.map(({ requestedAt }) => Number(requestedAt!.seconds) * 1e6 + Math.floor(requestedAt!.nanos / 1e3));
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    await service.policy.withdrawApprovals({ runId: flood.runId }, forRun(flood));
    expect((await service.policy.listApprovals({ sessionId: flood.sessionId }, service.as(testPrincipal))).approvals).toEqual([]);
  });
});

/** As two decisions on one call at the same moment, one of them an ask, would. */
async function decideOtherwise({ sessionId, runId, callId }: ReturnType<typeof callOf>): Promise<void> {
  const at = new Date().toISOString();
  const event = { kind: "intent", at, organization: "local", principal: "user:test", sessionId, runId, callId, decision: "deny" };
  await service.database.database.query("SELECT append_audit_event($1)", [JSON.stringify(event)]);
}

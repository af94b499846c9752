import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, shell } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada", roles: ["developer"] };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

async function ask(call: ReturnType<typeof callOf>): Promise<string> {
  const { sessionId, runId } = call;
  const { verdict } = await service.policy.decide({ call }, service.forRun({ principal: person, sessionId, runId }));
  return verdict!.approval!.approvalId;
}

const callOfRun = (runId: string, command = "npm test") => callOf({ ...shell(command), runId });
const withdraw = async (runId: string, principal = person): Promise<string[]> =>
  (await service.policy.withdrawApprovals({ runId }, service.forRun({ principal, runId }))).approvalIds;
const answer = async (approvalId: string, given = ApprovalAnswer.ONCE) =>
  service.policy.answerApproval({ approvalId, answer: given }, service.as(testPrincipal));
const take = async (approvalId: string, { sessionId, runId }: ReturnType<typeof callOf>) =>
  (await service.policy.awaitApproval({ approvalId }, service.forRun({ principal: person, sessionId, runId }))).verdict!;
async function pending(): Promise<string[]> {
  const { approvals } = await service.policy.listApprovals({}, service.as(testPrincipal));
  return approvals.map(({ approvalId }) => approvalId);
}

describe("WithdrawApprovals", () => {
  it("ends what the run still waits for, and nothing of another run", async () => {
    const [runId, otherRunId] = [randomUUID(), randomUUID()];
    const [first, second, other] = [await ask(callOfRun(runId)), await ask(callOfRun(runId, "make")), await ask(callOfRun(otherRunId))];
    expect((await withdraw(runId)).toSorted()).toEqual([first, second].toSorted());
    const left = await pending();
    expect(left).toContain(other);
    expect(left).not.toContain(first);
    expect(left).not.toContain(second);
    expect(await withdraw(runId)).toEqual([]);
    await answer(other);
  });

  it("leaves nothing to answer, and says why", async () => {
    const runId = randomUUID();
    const approvalId = await ask(callOfRun(runId));
    await withdraw(runId);
    expect(await failure(answer(approvalId))).toMatchObject({
      code: "failed_precondition",
      reason: "approval_withdrawn",
      message: `The approval ${approvalId} no longer waits for an answer: the run that asked for it has ended.`,
    });
  });

  it("leaves an answer that came first as it is", async () => {
    const call = callOfRun(randomUUID());
    const approvalId = await ask(call);
    await answer(approvalId);
    expect(await withdraw(call.runId)).toEqual([]);
    expect(await take(approvalId, call)).toMatchObject({ decision: Decision.ALLOW });
  });

  it("lets either the answer or the withdrawal happen where both come at once", async () => {
    const runId = randomUUID();
    const approvalId = await ask(callOfRun(runId));
    const [answered, withdrawn] = await Promise.allSettled([answer(approvalId), withdraw(runId)]);
    const wasWithdrawn = withdrawn.status === "fulfilled" && withdrawn.value.length === 1;
    expect(wasWithdrawn).toBe(answered.status === "rejected");
  });

  it("tells who waits: the call is denied", async () => {
    const call = callOfRun(randomUUID());
    const approvalId = await ask(call);
    const waiting = take(approvalId, call);
    await withdraw(call.runId);
    expect(await waiting).toMatchObject({ decision: Decision.DENY, step: DecidingStep.APPROVAL, rule: "approval: withdrawn", grant: "" });
  });

  it("is recorded, with the call, for whom and in whose name", async () => {
    const runId = randomUUID();
    const call = callOfRun(runId);
    const approvalId = await ask(call);
    await withdraw(runId);
    const filter = { sessionId: call.sessionId, kind: AuditKind.APPROVAL_WITHDRAWN };
    const { events } = await service.audit.query(filter, service.as(testPrincipal));
    const { sessionId, callId, tool } = call;
    expect(events).toMatchObject([{ approvalId, principal: person.id, sessionId, runId, callId, tool, rule: "approval: withdrawn" }]);
  });

  it("keeps no arguments", async () => {
    const runId = randomUUID();
    const approvalId = await ask(callOfRun(runId));
    await withdraw(runId);
    const sql = "SELECT arguments_json FROM approval WHERE approval_id = $1";
    expect(await service.database.database.query(sql, [approvalId])).toEqual([{ arguments_json: "" }]);
  });

  it("ends nothing for another person, of another organization or not, whatever their roles", async () => {
    const runId = randomUUID();
    const approvalId = await ask(callOfRun(runId));
    expect(await withdraw(runId, testPrincipal)).toEqual([]);
    expect(await withdraw(runId, { ...person, organization: "other" })).toEqual([]);
    expect(await pending()).toContain(approvalId);
    expect(await withdraw(runId, { ...person, roles: [] })).toEqual([approvalId]);
  });

  it("gives a call that was withdrawn no second approval: the first is told again, and the call is denied", async () => {
    const call = callOfRun(randomUUID());
    const approvalId = await ask(call);
    await withdraw(call.runId);
    expect(await ask(call)).toBe(approvalId);
    expect(await take(approvalId, call)).toMatchObject({ decision: Decision.DENY, rule: "approval: withdrawn", grant: "" });
    expect(await failure(ask({ ...call, argumentsJson: '{"command":"make"}' }))).toMatchObject({ reason: "call_already_decided" });
  });
});

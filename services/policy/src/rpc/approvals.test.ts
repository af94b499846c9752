import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { Principal } from "@hlvm/identity/principal";
import { ApprovalAnswer, ApprovalState, DecidingStep, Decision, PermissionMode, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked, type Settings } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada" };
const elsewhere: Principal = { ...testPrincipal, organization: "other" };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

/** Approval → the call that waits for it. */
const asking = new Map<string, ReturnType<typeof callOf>>();

async function decide(call: ReturnType<typeof callOf>, settings: Settings = {}, principal = person): Promise<Verdict> {
  const { sessionId, runId } = call;
  const { verdict } = await service.policy.decide(
    { call },
    service.forRun({ principal, sessionId, runId, settings: settingsOf(settings) }),
  );
  if (verdict!.approval !== undefined) asking.set(verdict!.approval.approvalId, call);
  return verdict!;
}

describe("approvals", () => {
  it("shows the very bytes, and after a yes gives a grant for them", async () => {
    const call = callOf({ tool: "write_file", arguments: '{"path":"a.txt","content":"hi"}' });
    const asked = await decide(call);
    expect(asked).toMatchObject({ decision: Decision.ASK, step: DecidingStep.MODE, rule: "default: L1", grant: "" });
    const { approvalId } = asked.approval!;
    expect(asked.approval).toMatchObject({
      argumentsJson: '{"content":"hi","path":"a.txt"}',
      state: ApprovalState.PENDING,
      requestedBy: "user:ada",
    });
    const waiting = awaitApproval(approvalId);
    const answered = await service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, service.as(testPrincipal));
    expect(answered.approval).toMatchObject({ state: ApprovalState.APPROVED, answeredBy: "user:test" });
    const verdict = await waiting;
    expect(verdict).toMatchObject({ decision: Decision.ALLOW, step: DecidingStep.APPROVAL, rule: "approval: once by user:test" });
    service.gate().pass(verdict.grant, {
      organization: "local",
      principal: "user:ada",
      sessionId: call.sessionId,
      runId: call.runId,
      callId: call.callId,
      tool: "write_file",
      definitionHash: call.definitionHash,
      argumentsHash: asked.approval!.argumentsHash,
    });
    expect(await eventsOf(call.sessionId)).toMatchObject([{ decision: Decision.ALLOW, step: DecidingStep.APPROVAL, approvalId }]);
  });

  it("lets no wider mode decide on a call that waits for its answer", async () => {
    const call = callOf(shell("npm test"));
    const { approvalId } = (await decide(call)).approval!;
    const again = await decide(call, { mode: PermissionMode.BYPASS_PERMISSIONS });
    expect(again).toMatchObject({ decision: Decision.ASK, grant: "", approval: { approvalId } });
  });

  it("71: uses an answer for one call only, and not for other arguments", async () => {
    const call = callOf({ tool: "write_file", arguments: { path: "a", content: "b" } });
    const { approvalId } = (await decide(call)).approval!;
    expect((await decide(call)).approval!.approvalId).toBe(approvalId);
    expect(await failure(decide({ ...call, argumentsJson: '{"path":"a","content":"evil"}' }))).toMatchObject({
      reason: "call_already_decided",
    });
    await service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, service.as(person));
    const hash = canonicalArguments(call.argumentsJson).hash;
    const { sessionId, runId, callId, tool, definitionHash } = call;
    const granted = { organization: "local", principal: person.id, sessionId, runId, callId, tool, definitionHash, argumentsHash: hash };
    for (const { grant } of await Promise.all([awaitApproval(approvalId), awaitApproval(approvalId)])) {
      const gate = service.gate();
      expect(() => gate.pass(grant, { ...granted, callId: randomUUID() })).toThrow("callId");
      expect(() => gate.pass(grant, { ...granted, argumentsHash: "0".repeat(64) })).toThrow("argumentsHash");
      gate.pass(grant, granted);
    }
    expect(await decide(callOf({ tool, arguments: call.argumentsJson, sessionId, runId }))).toMatchObject({ decision: Decision.ASK });
    expect(await failure(decide({ ...call, argumentsJson: '{"path":"a","content":"evil"}' }))).toMatchObject({
      reason: "call_already_decided",
    });
  });

  it("70: takes answers only from an approver of the organization, and only one", async () => {
    const { approvalId } = (await decide(callOf(shell("npm test")))).approval!;
    const answer = { approvalId, answer: ApprovalAnswer.ONCE };
    const developer: Principal = { ...person, roles: ["developer"] };
    expect(await failure(service.policy.answerApproval(answer, service.as(developer)))).toMatchObject({ reason: "role_missing" });
    expect(await failure(service.policy.answerApproval(answer, service.as(elsewhere)))).toMatchObject({ code: "not_found" });
    await service.policy.answerApproval({ ...answer, answer: ApprovalAnswer.DENY }, service.as(person));
    expect(await failure(service.policy.answerApproval(answer, service.as(person)))).toMatchObject({
      reason: "approval_not_pending",
    });
    for (let asked = 0; asked < 2; asked++)
      expect(await awaitApproval(approvalId)).toMatchObject({ decision: Decision.DENY, rule: "approval: denied by user:ada", grant: "" });
  });

  it("shows and gives nothing to another organization or person", async () => {
    const call = callOf(shell("npm test"));
    const { approvalId } = (await decide(call)).approval!;
    expect(await failure(awaitApproval(approvalId, elsewhere))).toMatchObject({ code: "not_found" });
    expect(await failure(awaitApproval(approvalId, testPrincipal))).toMatchObject({ code: "not_found" });
    expect(await listed(elsewhere, call.sessionId)).toEqual([]);
    expect(await listed({ ...testPrincipal, roles: ["developer"] }, call.sessionId)).toEqual([]);
    expect(await listed({ ...person, roles: ["developer"] }, call.sessionId)).toEqual([approvalId]);
    expect(await listed(testPrincipal, call.sessionId)).toEqual([approvalId]);
    expect(await listed({ ...person, roles: ["developer"] }, "")).toContain(approvalId);
    expect(await listed(testPrincipal, "")).toContain(approvalId);
  });

  it("waits on when the caller left, and denies after the time is over", async () => {
    const short = await startTestPolicy({ approvalSeconds: 1 });
    try {
      const call = callOf(shell("npm test"));
      const options = short.forRun({ ...call, principal: person });
      const { verdict } = await short.policy.decide({ call }, options);
      const { approvalId } = verdict!.approval!;
      const left = short.policy.awaitApproval({ approvalId }, { ...options, timeoutMs: 100 });
      expect(await failure(left)).toMatchObject({ code: "deadline_exceeded" });
      const wait = () => short.policy.awaitApproval({ approvalId }, options);
      // An answer may be lost: two that wait to the end, and one that comes after it.
      for (const { verdict: late } of [...(await Promise.all([wait(), wait()])), await wait()])
        expect(late).toMatchObject({ decision: Decision.DENY, step: DecidingStep.APPROVAL, rule: "approval: expired", grant: "" });
      const { events } = await short.audit.query({ sessionId: call.sessionId }, short.as(person));
      expect(events).toHaveLength(1);
      const answer = short.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, short.as(person));
      expect(await failure(answer)).toMatchObject({ reason: "approval_not_pending" });
    } finally {
      await short.close();
    }
  });

  it("44: denies where the tool's definition changed after the answer", async () => {
    const { approvalId } = (await decide(callOf({ tool: "write_file", arguments: { path: "a", content: "b" } }))).approval!;
    await service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, service.as(person));
    service.changedTools.set("write_file", { ...findNativeTool("write_file")!, description: "changed" });
    try {
      expect(await awaitApproval(approvalId)).toMatchObject({ decision: Decision.DENY, rule: "tool: definition changed", grant: "" });
    } finally {
      service.changedTools.clear();
    }
  });

  it("hears of an answer that came while the listening connection was cut", async () => {
    const { approvalId } = (await decide(callOf(shell("npm test")))).approval!;
    const waiting = awaitApproval(approvalId);
    const database = service.database.database;
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
    );
    await service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, service.as(person));
    expect(await waiting).toMatchObject({ decision: Decision.ALLOW });
  });

  it("asks no more in this session for what was allowed for it, destructive calls excepted", async () => {
    const sessionId = randomUUID();
    const inSession = (asked: Asked) => callOf({ ...asked, sessionId });
    await allowForSession(inSession(shell("npm test")));
    const again = await decide(inSession(shell("npm test -- --watch=false")));
    expect(again).toMatchObject({ decision: Decision.ALLOW, step: DecidingStep.EXPLICIT_ALLOW, rule: "session approval: shell_exec" });
    expect(await decide(inSession(shell("mkdir build")))).toMatchObject({ decision: Decision.ALLOW });
    expect(await decide(inSession(shell("npm publish")))).toMatchObject({ decision: Decision.ASK });
    expect(await decide(inSession(shell("npm test && node evil.js")))).toMatchObject({ decision: Decision.ASK });
    expect(await decide(inSession({ tool: "write_file", arguments: { path: "a", content: "" } }))).toMatchObject({
      decision: Decision.ASK,
    });
    expect(await decide(callOf(shell("npm test")))).toMatchObject({ decision: Decision.ASK });
    await allowForSession(inSession(shell("rm -r build")));
    expect(await decide(inSession(shell("rm -r build")))).toMatchObject({ decision: Decision.ASK, step: DecidingStep.DESTRUCTIVE });
  });
});

async function allowForSession(call: ReturnType<typeof callOf>): Promise<void> {
  const { approvalId } = (await decide(call)).approval!;
  await service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.SESSION }, service.as(person));
  await awaitApproval(approvalId);
}

async function awaitApproval(approvalId: string, principal = person): Promise<Verdict> {
  const { sessionId, runId } = asking.get(approvalId)!;
  return (await service.policy.awaitApproval({ approvalId }, service.forRun({ principal, sessionId, runId }))).verdict!;
}

async function listed(principal: Principal, sessionId: string): Promise<string[]> {
  const { approvals } = await service.policy.listApprovals({ sessionId }, service.as(principal));
  return approvals.map(({ approvalId }) => approvalId);
}

async function eventsOf(sessionId: string) {
  return (await service.audit.query({ sessionId }, service.as(testPrincipal))).events;
}

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind, OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, DecidingStep, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

const ada: Principal = { ...testPrincipal, id: "user:ada", roles: ["developer"] };
const ben: Principal = { ...testPrincipal, id: "user:ben", roles: ["approver"] };
const auditor: Principal = { ...testPrincipal, id: "user:eve", roles: ["security-auditor"] };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

type WhoApproved = Parameters<TestPolicy["audit"]["whoApproved"]>[0];
const whoApproved = async (asked: WhoApproved, principal = auditor) => service.audit.whoApproved(asked, service.as(principal));
const touched = async (path: string) =>
  (await service.audit.query({ path }, service.as(auditor))).events.map(({ argumentsJson }) => argumentsJson);

/** A call of Ada's that ran, answered by Ben where an answer is given. */
async function call(asked: Asked, { mode = PermissionMode.DEFAULT, answer }: { mode?: PermissionMode; answer?: ApprovalAnswer } = {}) {
  const made = callOf(asked);
  const { sessionId, runId, callId } = made;
  const run = service.forRun({ principal: ada, sessionId, runId, settings: settingsOf({ mode }) });
  const { verdict } = await service.policy.decide({ call: made }, run);
  if (answer !== undefined) {
    const { approvalId } = verdict!.approval!;
    await service.policy.answerApproval({ approvalId, answer }, service.as(ben));
    await service.policy.awaitApproval({ approvalId }, run);
  }
  if (answer !== ApprovalAnswer.DENY) await service.audit.recordOutcome({ sessionId, runId, callId, status: OutcomeStatus.SUCCEEDED }, run);
  return made;
}

describe("WhoApproved", () => {
  it("names who answered a call, or the step and rule that let it through where nobody did", async () => {
    const asked = await call(shell("npm publish"), { answer: ApprovalAnswer.ONCE });
    const unasked = await call({ tool: "write_file", arguments: { path: "a.txt", content: "x" } }, { mode: PermissionMode.ACCEPT_EDITS });
    const denied = await call(shell("rm -rf build"), { answer: ApprovalAnswer.DENY });
    const [answered] = (await whoApproved({ sessionId: asked.sessionId })).calls;
    expect(answered).toMatchObject({
      call: { principal: "user:ada", callId: asked.callId, argumentsJson: '{"command":"npm publish"}', outcome: OutcomeStatus.SUCCEEDED },
      answer: { principal: "user:ben", kind: AuditKind.APPROVAL_ANSWERED, callId: asked.callId, rule: "answer: once" },
    });
    const [ruled] = (await whoApproved({ sessionId: unasked.sessionId })).calls;
    expect(ruled).toMatchObject({ call: { step: DecidingStep.MODE, rule: expect.stringContaining("acceptEdits") } });
    expect(ruled!.answer).toBeUndefined();
    expect((await whoApproved({ sessionId: denied.sessionId })).calls).toEqual([]);
  });

  it("is narrowed by who answered, who asked, call, tool, path and words, and read page by page", async () => {
    const [one, other] = [
      await call(shell("make narrowed"), { answer: ApprovalAnswer.ONCE }),
      await call(shell("make narrowed twice"), { answer: ApprovalAnswer.SESSION }),
    ];
    await call(shell("git status narrowed"));
    const idsOf = async (asked: WhoApproved) =>
      (await whoApproved({ text: "narrowed", ...asked })).calls.map((found) => found.call!.callId);
    expect(await idsOf({ approver: "user:ben" })).toEqual([other.callId, one.callId]);
    expect(await idsOf({ approver: "user:ada" })).toEqual([]);
    expect(await idsOf({ principal: "user:ben" })).toEqual([]);
    expect(await idsOf({ callId: one.callId, sessionId: one.sessionId })).toEqual([one.callId]);
    expect(await idsOf({ tool: "write_file" })).toEqual([]);
    const first = await whoApproved({ text: "narrowed", approver: "user:ben", limit: 1 });
    expect(first.calls.map((found) => found.call!.callId)).toEqual([other.callId]);
    expect(await idsOf({ approver: "user:ben", beforeId: first.nextBeforeId })).toEqual([one.callId]);
  });

  it("is for who may read the audit log, of their own organization, and on record", async () => {
    const { sessionId } = await call(shell("npm test"), { answer: ApprovalAnswer.ONCE });
    for (const principal of [ada, ben])
      expect(await failure(whoApproved({ sessionId }, principal))).toMatchObject({ reason: "role_missing" });
    expect((await whoApproved({ sessionId }, { ...auditor, organization: "other" })).calls).toEqual([]);
    expect(await failure(service.audit.whoApproved({ sessionId }, service.forRun({ principal: auditor })))).toMatchObject({
      reason: "person_needed",
    });
    await whoApproved({ sessionId });
    const { events } = await service.audit.query({ kind: AuditKind.AUDIT_READ, limit: 1 }, service.as(auditor));
    expect(events[0]).toMatchObject({ principal: "user:eve", query: expect.stringContaining(`who_approved sessionId="${sessionId}"`) });
    expect(await failure(whoApproved({ path: "a\u0000" }))).toMatchObject({ code: "invalid_argument" });
  });
});

describe("a query by path", () => {
  it("finds what file tools and commands named, the path itself or something below it, and nothing else of that name", async () => {
    const mode = PermissionMode.ACCEPT_EDITS;
    const given = (path: string): Asked => ({ tool: "write_file", arguments: { content: "", path } });
    for (const path of ['lib/é"x/one.ts', 'lib/é"x/deep/two.ts', 'lib/é"xy.ts', "%"]) await call(given(path), { mode });
    await call(shell('cat lib/é\\"x/one.ts | wc'), { answer: ApprovalAnswer.ONCE });
    expect(await touched('lib/é"x')).toEqual(['{"content":"","path":"lib/é\\"x/deep/two.ts"}', '{"content":"","path":"lib/é\\"x/one.ts"}']);
    await call(shell("wc lib/plain.ts"));
    expect(await touched("lib/plain.ts")).toEqual(['{"command":"wc lib/plain.ts"}']);
    expect(await touched("%")).toEqual(['{"content":"","path":"%"}']);
    expect(await touched("lib/gone.ts")).toEqual([]);
  });
});

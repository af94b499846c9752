import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, ApprovalKind, ApprovalState, Decision, PermissionMode, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { askedAgain, type Call } from "../testing/asked-again.ts";
import { callOf, failure } from "../testing/test-calls.ts";

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

const { decide, take, events } = askedAgain(() => service, testPrincipal);
const colleague = { ...testPrincipal, id: "user:grace" };
const planning = { settings: { mode: PermissionMode.PLAN, allowedTools: ["read_*"] } };
const question = (): Call =>
  callOf({ tool: "request_clarification", arguments: { question: "Which database?", choices: ["SQLite", "PostgreSQL"] } });
const plan = (): Call => callOf({ tool: "propose_plan", arguments: { plan: "1. Change a.txt" } });
const asked = async (call: Call): Promise<Approval> => (await decide(call, call.tool === "propose_plan" ? planning : {})).approval!;
const give = (approvalId: string, said: object, principal = testPrincipal) =>
  service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE, ...said }, service.as(principal));

describe("a question to a person", () => {
  it("is answered with words, which come with the grant, also to whoever takes the run over, and stand in the audit log", async () => {
    const call = question();
    const { approvalId, kind } = await asked(call);
    expect(kind).toBe(ApprovalKind.QUESTION);
    await give(approvalId, { text: "SQLite, for now" }, colleague);
    const answer = { decision: Decision.ALLOW, personAnswer: { text: "SQLite, for now", answeredBy: colleague.id } };
    expect(await take(approvalId, call)).toMatchObject(answer);
    expect(await take(approvalId, call)).toMatchObject(answer);
    expect(await decide(call)).toMatchObject(answer);
    const [event] = await events(call, AuditKind.APPROVAL_ANSWERED);
    expect(event).toMatchObject({ principal: colleague.id, reason: "user:grace answered: SQLite, for now" });
  });

  it("is not answered by a yes, by nothing, for the session, with a mode or with control characters, and stays open", async () => {
    const { approvalId } = await asked(question());
    const unfit = { code: "invalid_argument", reason: "answer_unfit" };
    for (const said of [
      {},
      { text: " \n" },
      { text: "x", answer: ApprovalAnswer.SESSION },
      { text: "x", mode: PermissionMode.ACCEPT_EDITS },
      { text: "a\u001b[2Jb" },
      { text: "x".repeat(16_385) },
    ])
      expect(await failure(give(approvalId, said))).toMatchObject(unfit);
    const { approval } = await service.policy.getApproval({ approvalId }, service.as(testPrincipal));
    expect(approval!.state).toBe(ApprovalState.PENDING);
  });

  it("is answered without a role by the person whose run asks, and by nobody else without one", async () => {
    const developer = { ...testPrincipal, roles: ["developer"] as const };
    const { approvalId } = await asked(question());
    const refused = { code: "permission_denied", reason: "role_missing" };
    expect(await failure(give(approvalId, { text: "SQLite" }, { ...developer, id: "user:mallory" }))).toMatchObject(refused);
    await give(approvalId, { text: "SQLite" }, developer);
    const action = (await decide(callOf({ tool: "shell_exec", arguments: { command: "npm test" } }))).approval!;
    expect(await failure(give(action.approvalId, {}, developer))).toMatchObject(refused);
  });

  it("tells the run why it was not answered", async () => {
    const call = question();
    const { approvalId } = await asked(call);
    await give(approvalId, { answer: ApprovalAnswer.DENY, text: "Find out yourself" });
    expect(await take(approvalId, call)).toMatchObject({
      decision: Decision.DENY,
      reason: `${testPrincipal.id} did not answer: Find out yourself`,
    });
  });
});

describe("a plan", () => {
  const accepted = { text: "1. Change b.txt", mode: PermissionMode.ACCEPT_EDITS, delegation: "signed" };

  it("keeps the settings under which it was made, and comes back as it was accepted, also after the run's mode has changed", async () => {
    const call = plan();
    const approval = await asked(call);
    expect(approval).toMatchObject({
      kind: ApprovalKind.PLAN,
      settings: { mode: PermissionMode.PLAN, allowedTools: ["read_*"], canAsk: true },
    });
    await give(approval.approvalId, accepted);
    const answer = { decision: Decision.ALLOW, personAnswer: { ...accepted, answeredBy: testPrincipal.id } };
    expect(await take(approval.approvalId, call, planning)).toMatchObject(answer);
    expect(await decide(call, { settings: { mode: PermissionMode.ACCEPT_EDITS } })).toMatchObject(answer);
  });

  it("is accepted by nobody but who started the run, never without a mode or the edge's signature, and not as nonsense", async () => {
    const { approvalId } = await asked(plan());
    expect(await failure(give(approvalId, accepted, colleague))).toMatchObject({ code: "permission_denied", reason: "plan_of_another" });
    for (const said of [
      { ...accepted, mode: PermissionMode.UNSPECIFIED },
      { ...accepted, mode: PermissionMode.PLAN },
      { ...accepted, delegation: "" },
      { ...accepted, text: "\n\t " },
      { ...accepted, text: "\u0000\u0001ELF" },
      { ...accepted, text: "x".repeat(65_537) },
    ])
      expect(await failure(give(approvalId, said))).toMatchObject({ reason: "answer_unfit" });
    await give(approvalId, { answer: ApprovalAnswer.DENY, text: "Too much at once" }, colleague);
  });

  it("is refused as an answer to an action", async () => {
    const call = callOf({ tool: "write_file", arguments: { path: "a", content: "b" } });
    const { approvalId } = (await decide(call)).approval!;
    expect(await failure(give(approvalId, accepted))).toMatchObject({ reason: "answer_unfit" });
  });
});

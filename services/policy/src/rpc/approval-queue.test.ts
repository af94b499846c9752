import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, ApprovalState, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

const ada: Principal = { ...testPrincipal, id: "user:ada", roles: ["developer"] };
const ben: Principal = { ...testPrincipal, id: "user:ben", roles: ["approver"] };
const elsewhere: Principal = { ...ben, organization: "other" };
const { ONCE, DENY, SESSION } = ApprovalAnswer;

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

interface Where {
  readonly principal?: Principal;
  readonly sessionId?: string;
  readonly runId?: string;
}

async function ask(asked: Asked, { principal = ada, ...ids }: Where = {}): Promise<Approval> {
  const call = callOf({ ...asked, ...ids });
  const { sessionId, runId } = call;
  const run = service.forRun({ principal, sessionId, runId, settings: settingsOf() });
  return (await service.policy.decide({ call }, run)).verdict!.approval!;
}

type List = Parameters<TestPolicy["policy"]["listApprovals"]>[0];
const list = async (asked: List, principal = ben) => service.policy.listApprovals(asked, service.as(principal));
const idsOf = async (asked: List, principal = ben) => (await list(asked, principal)).approvals.map(({ approvalId }) => approvalId);
type Answer = Parameters<TestPolicy["policy"]["answerApproval"]>[0];
const answer = async (given: Answer, principal = ben) => (await service.policy.answerApproval(given, service.as(principal))).approval!;
type Answers = Parameters<TestPolicy["policy"]["answerApprovals"]>[0];
const answerAll = async (given: Answers, principal = ben) => (await service.policy.answerApprovals(given, service.as(principal))).answered;
const answersOf = async (sessionId: string) =>
  (await service.audit.query({ sessionId, kind: AuditKind.APPROVAL_ANSWERED }, service.as({ ...ben, roles: ["security-auditor"] }))).events;
const write = (path: string, content = "x"): Asked => ({ tool: "write_file", arguments: { path, content } });

describe("ListApprovals", () => {
  it("narrows by state, tool, level, who and when, to what the caller may see", async () => {
    const sessionId = randomUUID();
    const [waits, denied, allowed] = [
      await ask(shell("make"), { sessionId }),
      await ask(write("a"), { sessionId }),
      await ask(write("b"), { sessionId, principal: { ...ada, id: "user:cleo" } }),
    ];
    await answer({ approvalId: denied.approvalId, answer: DENY });
    await answer({ approvalId: allowed.approvalId, answer: ONCE });
    const { PENDING, APPROVED, DENIED, EXPIRED, WITHDRAWN } = ApprovalState;
    const all = [PENDING, APPROVED, DENIED, EXPIRED, WITHDRAWN];
    expect(await idsOf({ sessionId, pageSize: 10 })).toEqual([waits.approvalId]);
    expect(await idsOf({ sessionId, states: all })).toEqual([allowed, denied, waits].map(({ approvalId }) => approvalId));
    expect(await idsOf({ sessionId, states: [DENIED] })).toEqual([denied.approvalId]);
    expect(await idsOf({ sessionId, states: [EXPIRED, WITHDRAWN] })).toEqual([]);
    expect(await idsOf({ sessionId, tool: "shell_exec" })).toEqual([waits.approvalId]);
    expect(await idsOf({ sessionId, states: all, safetyLevel: SafetyLevel.L1 })).toHaveLength(2);
    expect(await idsOf({ sessionId, states: all, requestedBy: "user:cleo" })).toEqual([allowed.approvalId]);
    expect(await idsOf({ sessionId, states: all, answeredBy: "user:ben" })).toHaveLength(2);
    expect(await idsOf({ sessionId, states: all, requestedBefore: timestampFromDate(new Date(0)) })).toEqual([]);
    expect(await idsOf({ sessionId, states: all, requestedSince: timestampFromDate(new Date(0)) })).toHaveLength(3);
    expect(await idsOf({ sessionId, states: all }, ada)).toEqual([denied, waits].map(({ approvalId }) => approvalId));
    expect(await idsOf({ sessionId, states: all, requestedBy: "user:cleo" }, ada)).toEqual([]);
    expect(await idsOf({ sessionId, states: all }, elsewhere)).toEqual([]);
  });

  it("gives pages that nothing is missing from or twice in, and refuses a token that it did not give", async () => {
    const sessionId = randomUUID();
    const asked: string[] = [];
    for (let index = 0; index < 5; index++) asked.push((await ask(shell(`make ${index}`), { sessionId })).approvalId);
    const found: string[] = [];
    for (let pageToken = ""; ;) {
      const page = await list({ sessionId, pageSize: 2, pageToken });
      found.push(...page.approvals.map(({ approvalId }) => approvalId));
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
      expect(await failure(list({ sessionId, pageSize: 2, pageToken }, elsewhere))).toMatchObject({ reason: "page_token_unknown" });
    }
    expect(found).toEqual(asked);
    for (const pageToken of ["x", randomUUID(), "' OR 1=1"])
      expect(await failure(list({ pageToken }))).toMatchObject({ code: "invalid_argument", reason: "page_token_unknown" });
    for (const bad of [{ pageSize: 501 }, { states: [9] }, { tool: "\u0000" }, { tool: "x".repeat(129) }])
      expect(await failure(list(bad as List))).toMatchObject({ code: "invalid_argument" });
  });

  it("ends a page before it is too large to be sent", async () => {
    const sessionId = randomUUID();
    for (let index = 0; index < 3; index++) await ask(write(`${index}`, "x".repeat(1_800_000)), { sessionId });
    const first = await list({ sessionId, pageSize: 500 });
    expect(first.approvals).toHaveLength(2);
    const rest = await list({ sessionId, pageSize: 500, pageToken: first.nextPageToken });
    expect(rest).toMatchObject({ approvals: [{ sessionId }], nextPageToken: "" });
  });
});

describe("AnswerApproval", () => {
  it("tells the run why it was denied, and keeps why on record without secrets", async () => {
    const [sessionId, runId] = [randomUUID(), randomUUID()];
    const { approvalId } = await ask(shell("make"), { sessionId, runId });
    const reason = `Use npm instead, not ghp_${"a1B2".repeat(9)}`;
    await answer({ approvalId, answer: DENY, reason });
    const run = service.forRun({ principal: ada, sessionId, runId, settings: settingsOf() });
    const { verdict } = await service.policy.awaitApproval({ approvalId }, run);
    expect(verdict!.reason).toBe("user:ben denied it: Use npm instead, not [secret: GitHub token]");
    const [event] = await answersOf(sessionId);
    expect(event!.reason).toContain("denied what user:ada asked for: Use npm instead, not [secret");
    const other = await ask(shell("make"), { sessionId, runId });
    expect(await failure(answer({ approvalId: other.approvalId, answer: DENY, reason: "a\u001b[2J" }))).toMatchObject({
      reason: "answer_unfit",
    });
    const question = await ask({ tool: "request_clarification", arguments: { question: "Which?" } }, { sessionId, runId });
    const said = { approvalId: question.approvalId, answer: ONCE, text: "This", reason: "because" };
    expect(await failure(answer(said))).toMatchObject({ reason: "answer_unfit" });
  });

  it("comes to the same when it is given again with its key, and is on record once", async () => {
    const { approvalId, sessionId } = await ask(shell("make"));
    const given = { approvalId, answer: ONCE, idempotencyKey: randomUUID() };
    const [one, other] = await Promise.all([answer(given), answer(given)]);
    expect(one).toEqual(other);
    expect(await answer(given)).toMatchObject({ state: ApprovalState.APPROVED, answeredBy: "user:ben" });
    expect(await answersOf(sessionId)).toHaveLength(1);
    const notPending = { reason: "approval_not_pending" };
    expect(await failure(answer({ ...given, answer: DENY }))).toMatchObject(notPending);
    expect(await failure(answer({ ...given, idempotencyKey: randomUUID() }))).toMatchObject(notPending);
    expect(await failure(answer({ ...given, idempotencyKey: "" }))).toMatchObject(notPending);
    expect(await failure(answer(given, { ...ben, id: "user:zoe" }))).toMatchObject(notPending);
    expect(await failure(answer(given, ada))).toMatchObject({ reason: "role_missing" });
    expect(await failure(answer(given, elsewhere))).toMatchObject({ reason: "approval_not_found" });
  });
});

describe("AnswerApprovals", () => {
  const shown = ({ approvalId, argumentsHash }: Approval) => ({ approvalId, argumentsHash });

  it("answers like ones together, each by itself: what changed, is gone or was answered is refused and holds up no other", async () => {
    const sessionId = randomUUID();
    const [one, changed, answered, last] = [
      await ask(write("1"), { sessionId }),
      await ask(write("2"), { sessionId }),
      await ask(write("3"), { sessionId }),
      await ask(write("4"), { sessionId }),
    ];
    await answer({ approvalId: answered.approvalId, answer: DENY });
    const gone = { approvalId: randomUUID(), argumentsHash: "0".repeat(64) };
    const approvals = [shown(one), { ...shown(changed), argumentsHash: "0".repeat(64) }, shown(answered), gone, shown(last)];
    const idempotencyKey = randomUUID();
    const given = await answerAll({ approvals, answer: ONCE, idempotencyKey });
    expect(given.map(({ approvalId }) => approvalId)).toEqual(approvals.map(({ approvalId }) => approvalId));
    expect(given.map(({ approval, refusedReason }) => approval?.state ?? refusedReason)).toEqual([
      ApprovalState.APPROVED,
      "arguments_differ",
      "approval_not_pending",
      "approval_not_found",
      ApprovalState.APPROVED,
    ]);
    expect(await idsOf({ sessionId })).toEqual([changed.approvalId]);
    expect(await answersOf(sessionId)).toHaveLength(3);
    await answerAll({ approvals, answer: ONCE, idempotencyKey });
    expect(await answersOf(sessionId)).toHaveLength(3);
  });

  it("allows nothing together that is not alike, above L1 or unseen, and denies any", async () => {
    const sessionId = randomUUID();
    const file = await ask(write("1"), { sessionId });
    const [make, other] = [await ask(shell("make"), { sessionId }), await ask(shell("make it"), { sessionId })];
    const differ = { code: "failed_precondition", reason: "approvals_differ" };
    expect(await failure(answerAll({ approvals: [shown(make), shown(other)], answer: ONCE }))).toMatchObject(differ);
    expect(await failure(answerAll({ approvals: [shown(file), shown(make)], answer: ONCE }))).toMatchObject(differ);
    const edit = await ask({ tool: "edit_file", arguments: { path: "1", old_text: "a", new_text: "b" } }, { sessionId });
    expect(await failure(answerAll({ approvals: [shown(file), shown(edit)], answer: ONCE }))).toMatchObject(differ);
    const unseen = { approvals: [{ approvalId: file.approvalId }], answer: ONCE };
    expect(await failure(answerAll(unseen))).toMatchObject({ reason: "hash_missing" });
    expect(await failure(answerAll({ approvals: [shown(file)], answer: SESSION }))).toMatchObject({ code: "invalid_argument" });
    const many = Array.from({ length: 101 }, () => shown(file));
    for (const approvals of [[], many])
      expect(await failure(answerAll({ approvals, answer: DENY }))).toMatchObject({ code: "invalid_argument" });
    expect(await idsOf({ sessionId })).toHaveLength(4);
    const denied = await answerAll({
      approvals: [{ approvalId: file.approvalId }, shown(make), shown(other)],
      answer: DENY,
      reason: "No.",
    });
    expect(denied.map(({ approval }) => approval?.state)).toEqual([ApprovalState.DENIED, ApprovalState.DENIED, ApprovalState.DENIED]);
  });

  it("is for approvers of the organization, and no run", async () => {
    const file = await ask(write("1"));
    const given = { approvals: [shown(file)], answer: ONCE };
    expect(await failure(service.policy.answerApprovals(given))).toMatchObject({ code: "unauthenticated" });
    expect(await failure(answerAll(given, ada))).toMatchObject({ reason: "role_missing" });
    expect(await answerAll(given, elsewhere)).toMatchObject([{ refusedReason: "approval_not_found" }]);
    const run = service.forRun({ principal: ben });
    expect(await failure(service.policy.answerApprovals(given, run))).toMatchObject({ reason: "person_needed" });
    expect(await failure(service.policy.listApprovals({ pageSize: 1 }, run))).toMatchObject({ reason: "person_needed" });
    expect(await idsOf({ sessionId: file.sessionId })).toEqual([file.approvalId]);
  });
});

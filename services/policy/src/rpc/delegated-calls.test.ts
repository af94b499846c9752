import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, Decision, PermissionMode, PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal, type TestRun } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

/** May do anything, and so could answer for themselves. */
const alice: Principal = { ...testPrincipal, id: "user:alice" };
const bob: Principal = { ...testPrincipal, id: "user:bob" };
const read: Asked = { tool: "read_file", arguments: { path: "a" } };
const write: Asked = { tool: "write_file", arguments: { path: "a", content: "b" } };
const DIFFERS = { code: "permission_denied", reason: "delegation_differs" };
const MISSING = { code: "permission_denied", reason: "delegation_missing" };
const PERSON_NEEDED = { code: "permission_denied", reason: "person_needed" };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

type Call = ReturnType<typeof callOf>;
const runOf = ({ sessionId, runId }: Call, more: Partial<TestRun> = {}): TestRun => ({ principal: alice, sessionId, runId, ...more });
const decide = async (call: Call, run = runOf(call)) => (await service.policy.decide({ call }, service.forRun(run))).verdict!;
const intentsOf = async ({ sessionId }: Call) => (await service.audit.query({ sessionId }, service.as(alice))).events;

describe("Decide for a run", () => {
  it("believes the mode that the person delegated, and no other that its caller names", async () => {
    const call = callOf(write);
    const options = service.forRun(runOf(call, { settings: settingsOf({ mode: PermissionMode.PLAN, canAsk: false }) }));
    for (const mode of [PermissionMode.BYPASS_PERMISSIONS, PermissionMode.UNSPECIFIED]) {
      const settings = { mode, canAsk: true, allowedTools: ["*"] };
      const { verdict } = await service.policy.decide({ call, settings }, options);
      expect(verdict).toMatchObject({ decision: Decision.DENY, grant: "" });
    }
    expect(await intentsOf(call)).toMatchObject([{ mode: PermissionMode.PLAN }]);
  });

  it("takes the lists of tools from the delegation", async () => {
    const denied = callOf(read);
    const disallowedTools = ["read_*"];
    expect(await decide(denied, runOf(denied, { settings: settingsOf({ disallowedTools }) }))).toMatchObject({ decision: Decision.DENY });
    const allowed = callOf(shell("npm test"));
    const settings = settingsOf({ allowedTools: ["shell_exec"] });
    expect(await decide(allowed, runOf(allowed, { settings }))).toMatchObject({ decision: Decision.ALLOW });
  });

  it("lets a worker do no more than its parent and its own profile, whatever the settings say that were narrowed for it", async () => {
    const sessionId = randomUUID();
    const parent = { principal: alice, sessionId, runId: randomUUID(), settings: settingsOf({ mode: PermissionMode.DONT_ASK }) };
    const asWorker = (asked: Asked, more: object) => {
      const call = callOf({ ...asked, sessionId });
      const settings = create(PermissionSettingsSchema, { mode: PermissionMode.BYPASS_PERMISSIONS, canAsk: true, ...more });
      return service.policy.decide({ call }, service.forWorker(parent, { runId: call.runId, settings }));
    };
    expect(await asWorker(write, { allowedTools: ["write_file"] })).toMatchObject({ verdict: { decision: Decision.DENY, grant: "" } });
    expect(await asWorker(read, { onlyTools: { tools: ["git_*"] } })).toMatchObject({ verdict: { decision: Decision.DENY } });
    expect(await asWorker(read, { onlyTools: { tools: ["read_file"] } })).toMatchObject({ verdict: { decision: Decision.ALLOW } });
    const other = callOf({ ...read, sessionId });
    const settings = create(PermissionSettingsSchema, { mode: PermissionMode.DEFAULT });
    expect(
      await failure(service.policy.decide({ call: other }, service.forWorker(parent, { runId: randomUUID(), settings }))),
    ).toMatchObject(DIFFERS);
  });

  it("keeps with a plan all that its run was narrowed by, so that accepting it gives back nothing", async () => {
    const sessionId = randomUUID();
    const outer = settingsOf({ mode: PermissionMode.PLAN, allowedTools: ["shell_exec"], disallowedTools: ["git_*"] });
    const parent = { principal: alice, sessionId, runId: randomUUID(), settings: outer };
    const call = callOf({ tool: "propose_plan", arguments: { plan: "1. Change a.txt" }, sessionId });
    const settings = create(PermissionSettingsSchema, {
      mode: PermissionMode.PLAN,
      canAsk: true,
      allowedTools: ["shell_exec", "write_file"],
      disallowedTools: ["spawn_worker"],
      onlyTools: { tools: ["read_*", "propose_plan"] },
    });
    const { verdict } = await service.policy.decide({ call }, service.forWorker(parent, { runId: call.runId, settings }));
    expect(verdict!.approval!.settings).toMatchObject({
      allowedTools: ["shell_exec"],
      disallowedTools: ["spawn_worker", "git_*"],
      onlyTools: { tools: ["read_*", "propose_plan"] },
    });
  });

  it("refuses a call of another session or run than delegated, and writes nothing", async () => {
    const call = callOf(read);
    for (const changes of [{ sessionId: randomUUID() }, { runId: randomUUID() }])
      expect(await failure(decide(call, runOf(call, changes)))).toMatchObject(DIFFERS);
    expect(await intentsOf(call)).toEqual([]);
  });

  it("refuses who shows no delegation, be it the person through the edge", async () => {
    const call = callOf(read);
    const { sessionId, runId, callId } = call;
    const person = service.as(alice);
    const { policy, audit } = service;
    const refused = await Promise.all([
      failure(policy.decide({ call, settings: settingsOf() }, person)),
      failure(policy.awaitApproval({ approvalId: randomUUID() }, person)),
      failure(policy.withdrawApprovals({ runId }, person)),
      failure(audit.recordOutcome({ sessionId, runId, callId, status: OutcomeStatus.SUCCEEDED }, person)),
    ]);
    for (const error of refused) expect(error).toMatchObject(MISSING);
  });
});

describe("a run that a run asks about", () => {
  it("has to be its own: outcomes, approvals and withdrawals", async () => {
    const call = callOf(write);
    const { approvalId } = (await decide(call)).approval!;
    const allowed = callOf({ ...read, sessionId: call.sessionId });
    await decide(allowed);
    const { sessionId, runId, callId } = allowed;
    const other = service.forRun({ principal: alice, sessionId, runId: randomUUID() });
    expect(await failure(service.policy.awaitApproval({ approvalId }, other))).toMatchObject(DIFFERS);
    expect(await failure(service.policy.withdrawApprovals({ runId: call.runId }, other))).toMatchObject(DIFFERS);
    const outcome = { sessionId, runId, callId, status: OutcomeStatus.SUCCEEDED };
    expect(await failure(service.audit.recordOutcome(outcome, other))).toMatchObject(DIFFERS);
    const { approvals } = await service.policy.listApprovals({ sessionId }, service.as(alice));
    expect(approvals).toMatchObject([{ approvalId }]);
  });

  it("is not there for a run of somebody else of the same organization, whatever it says of session and run", async () => {
    const call = callOf(write);
    const { approvalId } = (await decide(call)).approval!;
    const options = service.forRun(runOf(call, { principal: bob }));
    expect(await failure(service.policy.awaitApproval({ approvalId }, options))).toMatchObject({ reason: "approval_not_found" });
    expect(await service.policy.withdrawApprovals({ runId: call.runId }, options)).toMatchObject({ approvalIds: [] });
  });
});

describe("an agent's run", () => {
  it("never approves itself, nor sees what waits or was written, whatever its person may do", async () => {
    const call = callOf(write);
    const { approvalId } = (await decide(call)).approval!;
    const run = service.forRun(runOf(call));
    const answer = { approvalId, answer: ApprovalAnswer.SESSION };
    expect(await failure(service.policy.answerApproval(answer, run))).toMatchObject(PERSON_NEEDED);
    expect(await failure(service.policy.listApprovals({ sessionId: call.sessionId }, run))).toMatchObject(PERSON_NEEDED);
    expect(await failure(service.audit.query({ sessionId: call.sessionId }, run))).toMatchObject(PERSON_NEEDED);
    const { approval } = await service.policy.answerApproval(answer, service.as(alice));
    expect(approval).toMatchObject({ approvalId, answeredBy: alice.id });
  });
});

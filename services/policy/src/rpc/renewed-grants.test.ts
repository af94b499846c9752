import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, ApprovalState, DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { askedAgain, type Call } from "../testing/asked-again.ts";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, shell, type Asked } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada" };
const read: Asked = { tool: "read_file", arguments: { path: "a" } };
const write: Asked = { tool: "write_file", arguments: { path: "a", content: "b" } };
const DECIDED = { code: "already_exists", reason: "call_already_decided" };
const disallowed = (tool: string) => ({ settings: { disallowedTools: [tool] } });

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());
const { decide, answer, take, approve, record, events } = askedAgain(() => service, person);

/** What the executor asks of a grant before it runs this very call. */
function pass(grant: string, { sessionId, runId, callId, tool, definitionHash: hash, argumentsJson }: Call) {
  const { organization, id: principal } = person;
  const argumentsHash = canonicalArguments(argumentsJson).hash;
  return service.gate().pass(grant, { organization, principal, sessionId, runId, callId, tool, definitionHash: hash, argumentsHash });
}

describe("a call that a rule allowed, asked for again", () => {
  it("gets another grant for exactly this call, after the event is on record", async () => {
    const call = callOf(read);
    const first = await decide(call);
    const again = await decide(call);
    expect(again).toEqual({ ...first, grant: again.grant });
    expect(again.grant).not.toBe(first.grant);
    expect(pass(again.grant, call)).toEqual(expect.objectContaining({ level: "L0", profile: "read" }));
    expect(() => pass(again.grant, { ...call, argumentsJson: '{"path":"b"}' })).toThrow("argumentsHash");
    const [intent] = await events(call, AuditKind.INTENT);
    const { callId, runId, tool, argumentsHash, rule } = intent!;
    expect(await events(call, AuditKind.GRANT_RENEWED)).toMatchObject([
      { callId, runId, tool, argumentsHash, rule, principal: person.id, decision: Decision.ALLOW, step: DecidingStep.READ_ONLY },
    ]);
  });

  it("is denied where it is on the deny list by now; that is on record, and stands", async () => {
    const call = callOf(read);
    await decide(call);
    const denied = await decide(call, disallowed("read_*"));
    expect(denied).toMatchObject({ decision: Decision.DENY, step: DecidingStep.DENY_LIST, rule: "disallowedTools: read_*", grant: "" });
    expect(await decide(call)).toEqual(denied);
    expect(await events(call, AuditKind.RENEWAL_DENIED)).toMatchObject([{ decision: Decision.DENY, rule: "disallowedTools: read_*" }]);
    expect(await events(call, AuditKind.GRANT_RENEWED)).toEqual([]);
    expect(await events(call, AuditKind.INTENT)).toMatchObject([{ decision: Decision.ALLOW }]);
  });

  it("is denied where somebody would have to be asked by now, or the role is gone", async () => {
    const [stricter, powerless] = [callOf(write), callOf(read)];
    await decide(stricter, { settings: { mode: PermissionMode.ACCEPT_EDITS } });
    const denied = await decide(stricter);
    expect(denied).toMatchObject({ decision: Decision.DENY, step: DecidingStep.MODE, rule: "default: L1", grant: "" });
    expect(denied.reason).toContain("allowed before");
    await decide(powerless);
    expect(await decide(powerless, { principal: { ...person, roles: ["security-auditor"] } })).toMatchObject({
      decision: Decision.DENY,
      rule: "role: missing",
      grant: "",
    });
    for (const call of [stricter, powerless]) expect(await events(call, AuditKind.RENEWAL_DENIED)).toHaveLength(1);
  });

  it("is denied where the definition of its tool changed, and is another call under the new one", async () => {
    const call = callOf(read);
    await decide(call);
    const changed = { ...findNativeTool("read_file")!, description: "changed" };
    service.changedTools.set("read_file", changed);
    try {
      const other = { ...call, definitionHash: definitionHash(changed) };
      expect(await failure(decide(other))).toMatchObject(DECIDED);
      expect(await decide(call)).toMatchObject({ decision: Decision.DENY, rule: "tool: definition changed", grant: "" });
    } finally {
      service.changedTools.clear();
    }
  });
});

describe("a call that a person allowed, asked for again", () => {
  it("gets another grant by the answer that was taken, be it by Decide or by AwaitApproval", async () => {
    const call = callOf(shell("npm test"));
    const { approvalId, verdict } = await approve(call);
    const settings = { mode: PermissionMode.DONT_ASK, canAsk: false };
    const again = [await decide(call), await take(approvalId, call), await decide(call, { settings })];
    for (const renewed of again) {
      expect(renewed).toEqual({ ...verdict, grant: renewed.grant });
      expect(pass(renewed.grant, call)).toMatchObject({ level: "L2", profile: "open" });
    }
    const rule = "approval: once by user:test";
    const event = { approvalId, decision: Decision.ALLOW, step: DecidingStep.APPROVAL, rule };
    expect(await events(call, AuditKind.GRANT_RENEWED)).toMatchObject(again.map(() => event));
  });

  it("is held to the level that the person saw, however it is judged by now", async () => {
    const call = callOf(shell("npm test"));
    const { argumentsJson, ...asked } = call;
    const argumentsHash = canonicalArguments(argumentsJson).hash;
    const who = { organization: person.organization, principal: person.id };
    const intent = { kind: "intent", at: new Date().toISOString(), ...who, ...asked, argumentsHash, decision: "allow" };
    const answered = JSON.stringify({ ...intent, step: "approval", safetyLevel: "L1" });
    await service.database.database.query("SELECT append_audit_event($1)", [answered]);
    expect(pass((await decide(call)).grant, call)).toMatchObject({ level: "L1", profile: "edit" });
  });

  it("is denied where it is on the deny list by now", async () => {
    for (const isDecide of [true, false]) {
      const call = callOf(write);
      const { approvalId } = await approve(call);
      const caller = disallowed("write_file");
      const denied = isDecide ? await decide(call, caller) : await take(approvalId, call, caller);
      expect(denied).toMatchObject({ decision: Decision.DENY, step: DecidingStep.DENY_LIST, grant: "" });
      expect(await events(call, AuditKind.RENEWAL_DENIED)).toMatchObject([{ approvalId }]);
    }
  });

  it("gets its approval, where the answer was not taken yet", async () => {
    const call = callOf(write);
    const { approvalId } = (await decide(call)).approval!;
    await answer(approvalId);
    const again = await decide(call, { settings: { mode: PermissionMode.BYPASS_PERMISSIONS } });
    expect(again).toMatchObject({ decision: Decision.ASK, grant: "", approval: { approvalId, state: ApprovalState.APPROVED } });
    expect(await take(approvalId, call)).toMatchObject({ decision: Decision.ALLOW, step: DecidingStep.APPROVAL });
    expect(await events(call, AuditKind.GRANT_RENEWED)).toEqual([]);
  });

  it("gets the approval that expired, and is told so", async () => {
    const call = callOf(write);
    const { approvalId } = (await decide(call)).approval!;
    await service.database.database.query("UPDATE approval SET expires_at = now() WHERE approval_id = $1", [approvalId]);
    expect(await decide(call)).toMatchObject({ decision: Decision.ASK, approval: { approvalId, state: ApprovalState.EXPIRED } });
    const denied = await take(approvalId, call);
    expect(denied).toMatchObject({ decision: Decision.DENY, rule: "approval: expired" });
    expect(await decide(call)).toEqual(denied);
  });

  it("gets the deny that a person gave, as often as it is asked for", async () => {
    const call = callOf(write);
    const { approvalId } = (await decide(call)).approval!;
    await answer(approvalId, ApprovalAnswer.DENY);
    const denied = await take(approvalId, call);
    expect(await decide(call, { settings: { mode: PermissionMode.BYPASS_PERMISSIONS } })).toEqual(denied);
    expect(await take(approvalId, call)).toEqual(denied);
  });
});

describe("no grant is renewed", () => {
  it("where the outcome is on record: nothing is left to run", async () => {
    const [allowed, approved] = [callOf(read), callOf(write)];
    await decide(allowed);
    const { approvalId } = await approve(approved);
    for (const call of [allowed, approved]) {
      await record(call);
      expect(await failure(decide(call))).toMatchObject({ ...DECIDED, message: expect.stringContaining("on record") as string });
    }
    expect(await failure(take(approvalId, approved))).toMatchObject(DECIDED);
    for (const call of [allowed, approved]) expect(await events(call, AuditKind.GRANT_RENEWED)).toEqual([]);
  });

  it("for other arguments, another tool, run, person or session under the same call id", async () => {
    const call = callOf(read);
    await decide(call);
    const others = [
      { ...call, argumentsJson: '{"path":"b"}' },
      { ...callOf(write), sessionId: call.sessionId, runId: call.runId, callId: call.callId },
      { ...call, runId: randomUUID() },
    ];
    for (const other of others) expect(await failure(decide(other))).toMatchObject(DECIDED);
    expect(await failure(decide(call, { principal: testPrincipal }))).toMatchObject(DECIDED);
    const otherSession = service.forRun({ principal: person, sessionId: randomUUID(), runId: call.runId });
    expect(await failure(service.policy.decide({ call }, otherSession))).toMatchObject({ reason: "delegation_differs" });
    for (const kind of [AuditKind.GRANT_RENEWED, AuditKind.RENEWAL_DENIED]) expect(await events(call, kind)).toEqual([]);
    expect((await decide(call)).grant).not.toBe("");
  });

  it("for an answer that another run or person took", async () => {
    const call = callOf(write);
    const { approvalId } = await approve(call);
    const otherRun = { ...call, runId: randomUUID() };
    expect(await failure(take(approvalId, otherRun))).toMatchObject({ reason: "delegation_differs" });
    expect(await failure(take(approvalId, call, { principal: testPrincipal }))).toMatchObject({ reason: "approval_not_found" });
    expect(await failure(decide(otherRun))).toMatchObject(DECIDED);
  });
});

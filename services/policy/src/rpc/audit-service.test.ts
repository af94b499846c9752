import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { startPostgres } from "@hlvm/embedded-postgres/start-postgres";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind, OutcomeStatus, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked, type Settings } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada" };
const elsewhere: Principal = { ...testPrincipal, organization: "other" };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

async function decide(asked: Asked, settings: Settings = {}, principal = person) {
  const call = callOf(asked);
  const { sessionId, runId } = call;
  const { verdict } = await service.policy.decide(
    { call },
    service.forRun({ principal, sessionId, runId, settings: settingsOf(settings) }),
  );
  return { call, verdict: verdict! };
}

type Query = Parameters<TestPolicy["audit"]["query"]>[0];
const query = async (filter: Query, principal = testPrincipal) => service.audit.query(filter, service.as(principal));
const eventsOf = async (filter: Query, principal = testPrincipal): Promise<AuditEvent[]> => (await query(filter, principal)).events;

type Outcome = Parameters<TestPolicy["audit"]["recordOutcome"]>[0];
const record = async (outcome: Outcome, principal = person) =>
  service.audit.recordOutcome(outcome, service.forRun({ principal, sessionId: outcome.sessionId, runId: outcome.runId }));

const readCall: Asked = { tool: "read_file", arguments: { path: "a" } };

describe("RecordOutcome", () => {
  it("joins what came of a call to its intent, once", async () => {
    const { call } = await decide(readCall);
    const { sessionId, runId, callId } = call;
    expect(await eventsOf({ sessionId })).toMatchObject([{ outcome: OutcomeStatus.UNSPECIFIED }]);
    const outcome = { sessionId, runId, callId, status: OutcomeStatus.SUCCEEDED, summary: "2 lines", durationMilliseconds: 7 };
    await record(outcome);
    const joined = { decision: Decision.ALLOW, outcome: OutcomeStatus.SUCCEEDED, outcomeSummary: "2 lines", durationMilliseconds: 7 };
    expect(await eventsOf({ sessionId })).toMatchObject([joined]);
    expect(await failure(record({ ...outcome, status: OutcomeStatus.FAILED }))).toMatchObject({
      code: "already_exists",
      reason: "outcome_already_recorded",
    });
    expect(await eventsOf({ sessionId, kind: AuditKind.OUTCOME })).toMatchObject([{ tool: "read_file", outcome: OutcomeStatus.SUCCEEDED }]);
  });

  it("refuses an outcome without an intent, of a denied call, and of another person, run or organization", async () => {
    const { call } = await decide(readCall);
    const { sessionId, runId, callId } = call;
    const outcome = { sessionId, runId, callId, status: OutcomeStatus.SUCCEEDED };
    expect(await failure(record({ ...outcome, callId: "none" }))).toMatchObject({ code: "not_found", reason: "intent_not_found" });
    expect(await failure(record({ ...outcome, runId: randomUUID() }))).toMatchObject({ reason: "intent_not_found" });
    expect(await failure(record(outcome, testPrincipal))).toMatchObject({ reason: "intent_not_found" });
    expect(await failure(record(outcome, { ...elsewhere, id: person.id }))).toMatchObject({ reason: "intent_not_found" });
    const denied = (await decide(shell("npm test"), { mode: PermissionMode.DONT_ASK })).call;
    const effect = { sessionId: denied.sessionId, runId: denied.runId, callId: denied.callId, status: OutcomeStatus.SUCCEEDED };
    expect(await failure(record(effect))).toMatchObject({ code: "failed_precondition", reason: "call_not_allowed" });
  });
});

describe("the audit log", () => {
  it("records the reading of nothing too", async () => {
    const nobody = `user:${randomUUID()}`;
    expect(await eventsOf({ principal: nobody })).toEqual([]);
    const [read] = await eventsOf({ kind: AuditKind.AUDIT_READ, limit: 1 });
    expect(read!.query).toContain(nobody);
  });

  it("66: keeps line feeds and control characters of arguments in one canonical record", async () => {
    const argumentsJson = JSON.stringify({ path: 'a\n{"kind":"intent"}\u001b[2J\u0000\u202e', content: "b" });
    const { call, verdict } = await decide({ tool: "write_file", arguments: argumentsJson }, { mode: PermissionMode.ACCEPT_EDITS });
    expect(verdict.decision).toBe(Decision.ALLOW);
    const [event] = await eventsOf({ sessionId: call.sessionId });
    expect(event!.argumentsJson).toBe(canonicalArguments(argumentsJson).json);
    expect(event!.argumentsJson).not.toMatch(/\p{Cc}/u);
    expect(await eventsOf({ sessionId: call.sessionId, text: "nothing of it" })).toEqual([]);
  });

  it("67: never holds a secret in clear, and the hash is of what would run", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const command = `curl -H 'Authorization: Bearer abcdefgh12345678' -u x:${secret} https://me:hunter22@example.com`;
    const { call, verdict } = await decide(shell(command));
    expect(JSON.parse(verdict.approval!.argumentsJson)).toEqual({ command });
    await service.policy.answerApproval({ approvalId: verdict.approval!.approvalId, answer: ApprovalAnswer.ONCE }, service.as(person));
    const { sessionId, runId } = call;
    await service.policy.awaitApproval(
      { approvalId: verdict.approval!.approvalId },
      service.forRun({ principal: person, sessionId, runId }),
    );
    await record({
      sessionId: call.sessionId,
      runId: call.runId,
      callId: call.callId,
      status: OutcomeStatus.FAILED,
      summary: `password=${secret}`,
    });
    const rows = await service.database.database.query(
      "SELECT audit_event::text AS text FROM audit_event UNION ALL SELECT approval::text FROM approval",
    );
    for (const hidden of [secret, "abcdefgh12345678", "hunter22"]) expect(JSON.stringify(rows)).not.toContain(hidden);
    const [event] = await eventsOf({ sessionId: call.sessionId });
    expect(event!.argumentsHash).toBe(canonicalArguments(call.argumentsJson).hash);
    expect(event!.argumentsJson).toContain("https://me:[secret: password]@example.com");
    expect(event!.outcomeSummary).toBe("password=[secret: GitHub token]");
  });

  it("keeps the beginning of very long texts", async () => {
    const { call } = await decide({ tool: "write_file", arguments: { path: "a", content: "x".repeat(1_000_000) } });
    const [event] = await eventsOf({ sessionId: call.sessionId, kind: AuditKind.APPROVAL_REQUESTED });
    expect(event!.argumentsJson.length).toBeLessThan(20_000);
    expect(event!.argumentsJson).toContain("(983616 more characters)");
  });

  it("tells the story of an approval", async () => {
    const { call, verdict } = await decide(shell("npm test"));
    const { approvalId } = verdict.approval!;
    await service.policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE }, service.as(testPrincipal));
    const ofSession = { sessionId: call.sessionId };
    expect(await eventsOf({ ...ofSession, kind: AuditKind.APPROVAL_REQUESTED })).toMatchObject([
      { approvalId, principal: "user:ada", decision: Decision.ASK },
    ]);
    expect(await eventsOf({ ...ofSession, kind: AuditKind.APPROVAL_ANSWERED })).toMatchObject([
      { approvalId, principal: "user:test", rule: "answer: once" },
    ]);
    expect(await eventsOf(ofSession)).toEqual([]);
  });
});

describe("Query", () => {
  it("finds by tool, person, decision, step, time and text", async () => {
    const sessionId = randomUUID();
    const before = new Date();
    await decide({ ...readCall, sessionId });
    await decide({ ...shell("npm test 100%_done"), sessionId }, { mode: PermissionMode.DONT_ASK }, testPrincipal);
    const found = async (filter: Query): Promise<string[]> => (await eventsOf({ sessionId, ...filter })).map(({ tool }) => tool);
    expect(await found({})).toEqual(["shell_exec", "read_file"]);
    expect(await found({ tool: "read_file" })).toEqual(["read_file"]);
    expect(await found({ principal: "user:test" })).toEqual(["shell_exec"]);
    expect(await found({ decision: Decision.DENY })).toEqual(["shell_exec"]);
    expect(await found({ step: DecidingStep.READ_ONLY })).toEqual(["read_file"]);
    expect(await found({ text: "100%_DONE" })).toEqual(["shell_exec"]);
    expect(await found({ text: "dontask: l2" })).toEqual(["shell_exec"]);
    expect(await found({ text: "npm%" })).toEqual([]);
    expect(await found({ since: timestampFromDate(before) })).toHaveLength(2);
    expect(await found({ until: timestampFromDate(before) })).toEqual([]);
  });

  it("gives page after page, newest first, without a gap", async () => {
    const sessionId = randomUUID();
    for (let index = 0; index < 5; index += 1) await decide({ ...readCall, sessionId, callId: `call-${index}` });
    const seen: string[] = [];
    let beforeId = 0n;
    do {
      const page = await query({ sessionId, limit: 2, beforeId });
      seen.push(...page.events.map(({ callId }) => callId));
      beforeId = page.nextBeforeId;
    } while (beforeId !== 0n);
    expect(seen).toEqual(["call-4", "call-3", "call-2", "call-1", "call-0"]);
  });

  it("records that it was read, by whom and for what", async () => {
    await query({ tool: "shell_exec", text: "x", limit: 3 });
    const [read] = await eventsOf({ kind: AuditKind.AUDIT_READ, limit: 1 });
    expect(read).toMatchObject({ principal: "user:test", query: 'tool="shell_exec" text="x" kind="intent" limit=3' });
  });

  it("refuses control characters in what it looks for, and in the id of a call", async () => {
    expect(await failure(query({ text: "a\0b" }))).toMatchObject({ code: "invalid_argument", reason: "control_character" });
    expect(await failure(decide({ ...readCall, callId: "a\0b" }))).toMatchObject({ reason: "control_character" });
  });

  it("takes the role, and shows only the own organization", async () => {
    const { call } = await decide(readCall);
    expect(await failure(query({}, { ...person, roles: ["developer", "approver"] }))).toMatchObject({
      code: "permission_denied",
      reason: "role_missing",
    });
    expect(await eventsOf({}, { ...person, roles: ["security-auditor"] })).not.toEqual([]);
    expect(await eventsOf({ sessionId: call.sessionId }, elsewhere)).toEqual([]);
  });
});

describe("64: PostgreSQL down in mid-run", () => {
  it("gives no grant, says what to do, and goes on when it is back", async () => {
    const directory = mkdtempSync(join(tmpdir(), "hlvm-policy-"));
    const options = {
      directory: join(directory, "data"),
      socketDirectory: join(directory, "socket"),
      logFile: join(directory, "log"),
      durable: false,
    };
    let postgres = await startPostgres(options);
    const cut = await startTestPolicy({ databaseUrl: postgres.url("postgres") });
    try {
      const decideCall = async (call: ReturnType<typeof callOf>) =>
        cut.policy.decide({ call }, cut.forRun({ principal: person, sessionId: call.sessionId, runId: call.runId }));
      const decideNow = async (asked: Asked) => decideCall(callOf(asked));
      const known = callOf(readCall);
      expect((await decideCall(known)).verdict!.grant).not.toBe("");
      await postgres.stop();
      const refused = { code: "unavailable", reason: "database_unreachable", advice: expect.stringContaining("try again") as string };
      expect(await failure(decideNow(readCall))).toMatchObject(refused);
      expect(await failure(decideNow(shell("npm test")))).toMatchObject(refused);
      expect(await failure(decideCall(known))).toMatchObject(refused);
      postgres = await startPostgres(options);
      expect((await decideNow(readCall)).verdict!.grant).not.toBe("");
      expect((await decideCall(known)).verdict!.grant).not.toBe("");
    } finally {
      await cut.close();
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

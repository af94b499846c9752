import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Principal } from "@hlvm/identity/principal";
import { AuditField, AuditKind, OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { appendEvent, recordOf } from "../adapters/postgres/event-record.ts";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

const ada: Principal = { ...testPrincipal, id: "user:ada", roles: ["developer"] };
const auditor: Principal = { ...testPrincipal, id: "user:eve", roles: ["security-auditor"] };
const elsewhere: Principal = { ...auditor, organization: "other" };
const { DONT_ASK, DEFAULT } = PermissionMode;

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

interface How {
  readonly mode?: PermissionMode;
  readonly status?: OutcomeStatus;
  readonly principal?: Principal;
}

/** A call that ran where it was let through. */
async function call(asked: Asked, { mode = DONT_ASK, status = OutcomeStatus.SUCCEEDED, principal = ada }: How = {}) {
  const made = callOf(asked);
  const { sessionId, runId, callId } = made;
  const run = service.forRun({ principal, sessionId, runId, settings: settingsOf({ mode }) });
  const { verdict } = await service.policy.decide({ call: made }, run);
  if (verdict!.grant !== "") await service.audit.recordOutcome({ sessionId, runId, callId, status }, run);
  return made;
}

type Query = Parameters<TestPolicy["audit"]["query"]>[0];
const idsOf = async (filter: Query) => (await service.audit.query(filter, service.as(auditor))).events.map(({ callId }) => callId);
const readings = async () => (await service.audit.query({ kind: AuditKind.AUDIT_READ }, service.as(auditor))).events;
const read = (path: string): Asked => ({ tool: "read_file", arguments: { path } });

describe("a query's filters", () => {
  it("narrow by outcome, level, mode, rule, run and call, and refuse what cannot be", async () => {
    const failed = await call(read("filters.txt"), { status: OutcomeStatus.FAILED });
    const { sessionId, runId, callId } = failed;
    const again = { sessionId, runId };
    await call({ ...read("filters.txt"), ...again });
    await call({ ...shell("make filters"), ...again });
    expect(await idsOf({ sessionId, outcome: OutcomeStatus.FAILED })).toEqual([callId]);
    expect(await idsOf({ kind: AuditKind.OUTCOME, sessionId, outcome: OutcomeStatus.FAILED })).toEqual([callId]);
    expect(await idsOf({ sessionId, outcome: OutcomeStatus.TIMED_OUT })).toEqual([]);
    expect(await idsOf({ sessionId, safetyLevel: SafetyLevel.L0 })).toHaveLength(2);
    expect(await idsOf({ sessionId, safetyLevel: SafetyLevel.L2, rule: "dontAsk" })).toHaveLength(1);
    expect(await idsOf({ sessionId, rule: "ontAsk" })).toEqual([]);
    expect(await idsOf({ sessionId, mode: DONT_ASK })).toHaveLength(3);
    expect(await idsOf({ sessionId, mode: PermissionMode.PLAN })).toEqual([]);
    expect(await idsOf({ runId, callId })).toEqual([callId]);
    const moment = timestampFromDate(new Date(0));
    const bad: Query[] = [{ since: timestampFromDate(new Date()), until: moment }, { host: "a b" }, { runId: "x" }, { limit: 1_001 }];
    for (const filter of [...bad, { rule: "\u0000" }, { outcome: 99 }])
      expect(await failure(idsOf(filter as Query))).toMatchObject({ code: "invalid_argument", message: expect.stringMatching(/./) });
  });

  it("find a host that a call names, itself or below it, and no other of like name", async () => {
    const named = ["curl https://hosts.example/x", "ssh git@API.Hosts.Example.", "curl api.hosts.example:80"];
    const others = ["curl hosts.example.evil", "curl my-hosts.example", "echo xhosts.example", "curl hosts.exampleX"];
    const { sessionId } = await call(shell(named[0]!));
    for (const command of [...named.slice(1), ...others]) await call({ ...shell(command), sessionId });
    const { events } = await service.audit.query({ sessionId, host: "HOSTS.example" }, service.as(auditor));
    expect(events.map(({ argumentsJson }) => (JSON.parse(argumentsJson) as { command: string }).command)).toEqual(named.toReversed());
  });

  it("find text of the arguments and of the outcome, whatever its case and its quotes", async () => {
    const { sessionId } = await call(shell('echo "GRÜSSE \\ dort"'));
    const { runId, callId } = await call({ ...read("x"), sessionId });
    const run = service.forRun({ principal: ada, sessionId, runId });
    const other = callOf({ ...read("y"), sessionId, runId });
    await service.policy.decide({ call: other }, run);
    await service.audit.recordOutcome({ ...other, status: OutcomeStatus.FAILED, summary: 'No "Such" file' }, run);
    expect(await idsOf({ sessionId, text: "grüsse" })).toHaveLength(1);
    expect(await idsOf({ sessionId, text: 'no "such"' })).toEqual([other.callId]);
    expect(await idsOf({ sessionId, text: 'no "such"', since: timestampFromDate(new Date(Date.now() - 60_000)) })).toEqual([other.callId]);
    expect(callId).not.toBe(other.callId);
    expect(await idsOf({ sessionId, text: "%" })).toEqual([]);
  });
});

describe("Aggregate", () => {
  it("counts events by fields and over time, and says how many the values are that it leaves out", async () => {
    const principal = { ...ada, id: "user:counted" };
    for (const path of ["a", "b", "c"]) await call(read(path), { principal });
    await call(read("d"), { principal, status: OutcomeStatus.FAILED });
    await call(shell("make it"), { principal });
    await call(shell("make it"), { principal, mode: DEFAULT });
    const { TOOL, DECISION, OUTCOME, SESSION, SAFETY_LEVEL } = AuditField;
    const query = { principal: principal.id };
    const asked = { query, by: [TOOL, DECISION, OUTCOME, SESSION, SAFETY_LEVEL], top: 2, buckets: 24 };
    const counted = await service.audit.aggregate(asked, service.as(auditor));
    const facets = counted.facets.map(({ counts, otherEvents }) => [...counts.map(({ value, events }) => [value, events]), otherEvents]);
    expect(counted.events).toBe(5n);
    expect(facets[0]).toEqual([["read_file", 4n], ["shell_exec", 1n], 0n]);
    expect(facets[1]).toEqual([["allow", 4n], ["deny", 1n], 0n]);
    expect(facets[2]).toEqual([["succeeded", 3n], ["", 1n], 1n]);
    expect(facets[3]!.at(-1)).toBe(3n);
    expect(facets[4]).toEqual([["L0", 4n], ["L2", 1n], 0n]);
    const sum = counted.buckets.reduce(
      (total, { events, allowed, denied }) => [total[0]! + events, total[1]! + allowed, total[2]! + denied],
      [0n, 0n, 0n],
    );
    expect(sum).toEqual([5n, 4n, 1n]);
    const ofRequests = { query: { ...query, kind: AuditKind.APPROVAL_REQUESTED }, buckets: 5 };
    const requests = await service.audit.aggregate(ofRequests, service.as(auditor));
    // The second may change between the event and the question.
    expect(requests.buckets.filter(({ events }) => events > 0n)).toMatchObject([{ asked: 1n, events: 1n }]);
  });

  it("gives spans that follow each other over the time that is asked for, at most as many as are wanted", async () => {
    const [since, until] = ["2026-01-31T23:59:30Z", "2026-03-02T00:00:01Z"].map((text) => timestampFromDate(new Date(text)));
    const { buckets, bucketSeconds } = await service.audit.aggregate({ query: { since, until }, buckets: 30 }, service.as(auditor));
    expect(bucketSeconds).toBe(7 * 86_400);
    const starts = buckets.map(({ start }) => timestampMs(start!));
    for (const [index, start] of starts.slice(1).entries()) expect(start - starts[index]!).toBe(bucketSeconds * 1_000);
    expect(starts[0]).toBeLessThanOrEqual(timestampMs(since!));
    expect(starts.at(-1)! + bucketSeconds * 1_000).toBeGreaterThanOrEqual(timestampMs(until!));
    const one = await service.audit.aggregate({ query: { since, until }, buckets: 1 }, service.as(auditor));
    expect(one.buckets).toHaveLength(1);
    const none = await service.audit.aggregate({ query: { principal: "user:nobody" } }, service.as(auditor));
    expect(none).toMatchObject({ events: 0n, facets: [], buckets: [], bucketSeconds: 0 });
  });
});

describe("SessionTimeline", () => {
  it("tells all of a session, oldest first and page by page", async () => {
    const { sessionId } = await call(read("a"));
    await call({ ...shell("make timeline"), sessionId }, { mode: DEFAULT });
    const first = await service.audit.sessionTimeline({ sessionId, limit: 2 }, service.as(auditor));
    const rest = await service.audit.sessionTimeline({ sessionId, afterId: first.nextAfterId }, service.as(auditor));
    expect([...first.events, ...rest.events].map(({ kind }) => kind)).toEqual([
      AuditKind.INTENT,
      AuditKind.OUTCOME,
      AuditKind.APPROVAL_REQUESTED,
    ]);
    expect(rest.nextAfterId).toBe(0n);
    expect((await service.audit.sessionTimeline({ sessionId }, service.as(elsewhere))).events).toEqual([]);
  });
});

describe("Tail", () => {
  it("brings events as they are recorded, each once, also those that are committed behind later ones", async () => {
    const principal = { ...ada, id: "user:followed" };
    const before = await call(read("before"), { principal });
    const { events } = await service.audit.query({ callId: before.callId }, service.as(auditor));
    const stop = new AbortController();
    const asked = { query: { principal: principal.id }, afterId: events[0]!.id - 1n };
    const tail = service.audit.tail(asked, { ...service.as(auditor), signal: stop.signal })[Symbol.asyncIterator]();
    const next = async () => (await tail.next()).value.events.map(({ callId }: { callId: string }) => callId);
    expect(await next()).toEqual([before.callId]);
    const one = await call(read("one"), { principal });
    expect(await next()).toEqual([one.callId]);
    const other = await call(read("other"), { principal });
    expect(await next()).toEqual([other.callId]);
    let later: string[] = [];
    await service.database.database.transaction(async (queries) => {
      const late = {
        kind: "intent",
        at: new Date().toISOString(),
        organization: "local",
        principal: principal.id,
        callId: "late",
      } as const;
      await queries.query(`SELECT ${appendEvent(1)}`, [recordOf(late)]);
      const { callId: committed } = await call(read("overtakes"), { principal });
      later = [committed, ...(await next())];
    });
    expect(later[1]).toBe(later[0]);
    expect(await next()).toEqual(["late"]);
    stop.abort();
    expect((await readings()).filter(({ query }) => query.includes("user:followed"))).toHaveLength(1);
  });
});

it("is for who may read the audit log, no run, of their own organization, and on record", async () => {
  const { sessionId } = await call(read("guarded"));
  const asks = {
    aggregate: (options: object) => service.audit.aggregate({ query: { sessionId } }, options),
    session_timeline: (options: object) => service.audit.sessionTimeline({ sessionId }, options),
    tail: (options: object) => service.audit.tail({ query: { sessionId }, afterId: 1n }, options)[Symbol.asyncIterator]().next(),
  };
  for (const [name, ask] of Object.entries(asks)) {
    expect(await failure(ask({}))).toMatchObject({ code: "unauthenticated" });
    expect(await failure(ask(service.as({ ...ada, roles: ["developer", "approver"] })))).toMatchObject({ reason: "role_missing" });
    expect(await failure(ask(service.forRun({ principal: auditor })))).toMatchObject({ reason: "person_needed" });
    await ask(service.as(auditor));
    const [newest] = await readings();
    expect(newest).toMatchObject({ principal: "user:eve", query: expect.stringMatching(`^${name} .*${sessionId}`) });
  }
  expect((await service.audit.aggregate({ query: { sessionId } }, service.as(elsewhere))).events).toBe(0n);
});

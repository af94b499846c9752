import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind, OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { PostgresOpenCalls } from "../adapters/postgres/postgres-open-calls.ts";
import { closeOpenCalls } from "../domain/audit/close-open-calls.ts";
import { askedAgain, type Call } from "../testing/asked-again.ts";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, shell, type Asked } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada" };
const read: Asked = { tool: "read_file", arguments: { path: "a" } };
const DECIDED = { code: "already_exists", reason: "call_already_decided" };
const HOUR = 60 * 60 * 1_000;

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());
const { decide, take, approve, record, events } = askedAgain(() => service, person);

const times = <T>(count: number, ask: () => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
  Promise.allSettled(Array.from({ length: count }, ask));
const granted = (results: readonly PromiseSettledResult<{ grant: string }>[]): string[] =>
  results.flatMap((result) => (result.status === "fulfilled" && result.value.grant !== "" ? [result.value.grant] : []));
const append = async (event: object): Promise<unknown> =>
  (await service.database.database.query<{ id: unknown }>("SELECT append_audit_event($1) AS id", [JSON.stringify(event)]))[0]!.id;

/** A renewal of the grant that this call got, as the service records it. */
function renewalOf({ sessionId, runId, callId, tool, definitionHash }: Call, { argumentsHash }: { argumentsHash: string }) {
  const ids = { sessionId, runId, callId, tool, definitionHash, argumentsHash };
  return { kind: "grant_renewed", at: new Date().toISOString(), organization: "local", principal: person.id, decision: "allow", ...ids };
}

describe("renewals", () => {
  it("are on record for each grant but the first, where a call is asked for several times at once", async () => {
    const call = callOf(read);
    const grants = granted(await times(3, () => decide(call)));
    expect(new Set(grants).size).toBe(3);
    expect(await events(call, AuditKind.INTENT)).toHaveLength(1);
    expect(await events(call, AuditKind.GRANT_RENEWED)).toHaveLength(2);
  });

  it("are at most 20 for a call, one after the other and at once, each on record", async () => {
    const [slow, fast] = [callOf(read), callOf(read)];
    await decide(slow);
    for (let index = 0; index < 20; index++) expect((await decide(slow)).grant).not.toBe("");
    const refused = await failure(decide(slow));
    expect(refused).toMatchObject({ ...DECIDED, advice: expect.stringContaining("receipt") as string });
    await decide(fast);
    expect(new Set(granted(await times(30, () => decide(fast)))).size).toBe(20);
    for (const call of [slow, fast]) expect(await events(call, AuditKind.GRANT_RENEWED)).toHaveLength(20);
  });

  it("are at most 20 for an answer that was taken", async () => {
    const call = callOf(shell("npm test"));
    const { approvalId } = await approve(call);
    expect(granted(await times(15, () => take(approvalId, call)))).toHaveLength(15);
    expect(granted(await times(15, () => decide(call)))).toHaveLength(5);
    expect(await failure(take(approvalId, call))).toMatchObject(DECIDED);
  });

  it("leave one intent, to which the outcome is joined, and have none themselves", async () => {
    const call = callOf(read);
    await decide(call);
    await decide(call);
    await record(call);
    const { callId } = call;
    expect(await events(call, AuditKind.INTENT)).toMatchObject([{ callId, outcome: OutcomeStatus.SUCCEEDED }]);
    expect(await events(call, AuditKind.GRANT_RENEWED)).toMatchObject([{ callId, outcome: OutcomeStatus.UNSPECIFIED }]);
  });

  it("keep a call open as its intent does: it is closed once, and then has no further grant", async () => {
    const [lost, denied] = [callOf(read), callOf(read)];
    for (const call of [lost, denied]) await decide(call);
    await decide(lost);
    await decide(denied, { settings: { disallowedTools: ["read_file"] } });
    const calls = new PostgresOpenCalls(service.database.database);
    const closed = await closeOpenCalls(calls, new Date(Date.now() + 26 * HOUR));
    expect(closed).toBeGreaterThanOrEqual(2);
    for (const call of [lost, denied]) expect(await events(call, AuditKind.INTENT)).toMatchObject([{ outcome: OutcomeStatus.UNKNOWN }]);
    expect(await closeOpenCalls(calls, new Date(Date.now() + 26 * HOUR))).toBe(0);
    expect(await failure(decide(lost))).toMatchObject(DECIDED);
    expect(await decide(denied)).toMatchObject({ decision: Decision.DENY, grant: "" });
  });

  it("wait for an outcome that is about to be recorded, and never follow it", async () => {
    const call = callOf(read);
    await decide(call);
    const { sessionId, runId, callId } = call;
    const at = new Date().toISOString();
    const outcome = { kind: "outcome", at, organization: "local", principal: person.id, sessionId, runId, callId, outcome: "succeeded" };
    const { database } = service.database;
    const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const renewed = await database.transaction(async (queries) => {
      await queries.query("SELECT append_audit_event($1)", [JSON.stringify(outcome)]);
      const asked = failure(decide(call));
      await expect.poll(() => database.query(waiting)).toHaveLength(1);
      return { asked };
    });
    expect(await renewed.asked).toMatchObject(DECIDED);
    expect(await events(call, AuditKind.GRANT_RENEWED)).toEqual([]);
  });

  it("keep an approval's arguments until the outcome is on record, and no other call takes them away", async () => {
    const call = callOf(shell("npm test"));
    const { approvalId } = await approve(call);
    const kept = async () =>
      (await service.database.database.query("SELECT arguments_json FROM approval WHERE approval_id = $1", [approvalId]))[0];
    expect(await failure(record({ ...call, runId: randomUUID() }))).toMatchObject({ reason: "intent_not_found" });
    expect(await kept()).toEqual({ arguments_json: '{"command":"npm test"}' });
    await record(call);
    expect(await kept()).toEqual({ arguments_json: "" });
  });
});

describe("append_audit_event", () => {
  it("takes a renewal only of the very call that was allowed", async () => {
    const call = callOf(read);
    const [asked, denied] = [callOf(shell("npm test")), callOf(shell("npm test"))];
    await decide(call);
    await decide(asked);
    await decide(denied, { settings: { canAsk: false } });
    const [intent] = await events(call, AuditKind.INTENT);
    const renewal = renewalOf(call, intent!);
    const others = [
      ...["sessionId", "runId"].map((field) => ({ [field]: randomUUID() })),
      ...["callId", "tool", "principal", "organization", "argumentsHash", "definitionHash"].map((field) => ({ [field]: "other" })),
      { argumentsHash: undefined },
      { definitionHash: undefined },
    ];
    for (const changes of others) expect(await append({ ...renewal, ...changes })).toBeNull();
    for (const other of [asked, denied]) expect(await append(renewalOf(other, intent!))).toBeNull();
    expect(await append(renewal)).not.toBeNull();
    expect(await failure(append({ ...renewal, decision: "deny" }))).not.toBe("no error");
    expect(await failure(append({ ...renewal, kind: "renewal_denied" }))).not.toBe("no error");
    expect(await append({ ...renewal, kind: "renewal_denied", decision: "deny" })).not.toBeNull();
    for (const late of [renewal, { ...renewal, kind: "renewal_denied", decision: "deny" }]) expect(await append(late)).toBeNull();
  });
});

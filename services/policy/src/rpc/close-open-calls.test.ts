import { afterAll, beforeAll, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { PostgresOpenCalls } from "../adapters/postgres/postgres-open-calls.ts";
import { closeOpenCalls } from "../domain/audit/close-open-calls.ts";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

const HOUR = 60 * 60 * 1_000;
const person: Principal = { ...testPrincipal, id: "user:ada" };
const read: Asked = { tool: "read_file", arguments: { path: "a" } };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

async function decide(asked: Asked, mode = PermissionMode.DONT_ASK) {
  const call = callOf(asked);
  const { sessionId, runId, callId } = call;
  const options = service.forRun({ principal: person, sessionId, runId, settings: settingsOf({ mode }) });
  await service.policy.decide({ call }, options);
  const told = (status: OutcomeStatus) => service.audit.recordOutcome({ sessionId, runId, callId, status }, options);
  const outcome = async () =>
    (await service.audit.query({ sessionId }, service.as(testPrincipal))).events.map(({ outcome: found }) => found);
  return { told, outcome };
}

it("closes allowed calls whose outcome nobody can tell any more as unknown, once, and no others", async () => {
  const [lost, told, denied] = [await decide(read), await decide(read), await decide(shell("npm test"))];
  await told.told(OutcomeStatus.SUCCEEDED);
  const calls = new PostgresOpenCalls(service.database.database);
  expect(await closeOpenCalls(calls, new Date(Date.now() + 24 * HOUR))).toBe(0);
  expect(await lost.outcome()).toEqual([OutcomeStatus.UNSPECIFIED]);

  const later = new Date(Date.now() + 26 * HOUR);
  expect(await Promise.all([closeOpenCalls(calls, later), closeOpenCalls(calls, later)])).toEqual(expect.arrayContaining([0, 1]));
  expect(await lost.outcome()).toEqual([OutcomeStatus.UNKNOWN]);
  expect(await told.outcome()).toEqual([OutcomeStatus.SUCCEEDED]);
  expect(await denied.outcome()).toEqual([OutcomeStatus.UNSPECIFIED]);
  expect(await failure(lost.told(OutcomeStatus.SUCCEEDED))).toMatchObject({ reason: "outcome_already_recorded" });
});

it("goes on where it ended, however many events there are", async () => {
  const calls = new PostgresOpenCalls(service.database.database);
  const open = [];
  for (let index = 0; index < 3; index++) open.push(await decide(read));
  for (let index = 0; index < 1_100; index++) await service.audit.query({ limit: 1 }, service.as(testPrincipal));
  open.push(await decide(read));
  expect(await closeOpenCalls(calls, new Date(Date.now() + 26 * HOUR))).toBe(open.length);
  for (const one of open) expect(await one.outcome()).toEqual([OutcomeStatus.UNKNOWN]);
});

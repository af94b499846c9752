import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal, Role } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { failure } from "../testing/test-calls.ts";

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

const person = (name: string, ...roles: Role[]): Principal => ({ ...testPrincipal, id: `user:${name}`, roles });
const change = { changeJson: '{"kind":"money","limit":"5","subject":"user:ada"}' };
const record = (request: object, principal: Principal, sessionId: string = randomUUID()) =>
  service.audit.recordBudgetChange({ ...change, ...request }, service.forRun({ principal, sessionId, runId: randomUUID() }));
const recorded = async () =>
  (await service.audit.query({ kind: AuditKind.BUDGET_CHANGED }, service.as(person("eve", "security-auditor")))).events;

describe("RecordBudgetChange", () => {
  it("puts on record who changed which budget, for an administrator alone", async () => {
    for (const roles of [["developer"], ["approver", "security-auditor"], []] satisfies Role[][])
      expect(await failure(record({}, person("bob", ...roles)))).toMatchObject({ reason: "role_missing" });
    expect(await recorded()).toEqual([]);
    await record({}, person("root", "admin"));
    expect(await recorded()).toMatchObject([{ principal: "user:root", argumentsJson: change.changeJson }]);
  });

  it("takes no administrator for one's own session, and names it", async () => {
    const sessionId = randomUUID();
    await record({ ofOwnSession: true }, person("ada", "developer"), sessionId);
    expect((await recorded())[0]).toMatchObject({ principal: "user:ada", sessionId });
  });

  it("is for nobody who comes without what the edge signed", async () => {
    expect(await failure(service.audit.recordBudgetChange(change, service.as(person("root", "admin"))))).toMatchObject({
      reason: "delegation_missing",
    });
    expect(await failure(record({ changeJson: '"\u0000"' }, person("root", "admin")))).toMatchObject({ code: expect.anything() });
  });
});

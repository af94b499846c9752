import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { failure } from "../testing/test-calls.ts";

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

const method = "hlvm.model.v1.PoolService/DrainInstance";
const root = () => service.as({ ...testPrincipal, id: "user:root", roles: ["admin"] });
const recorded = async () => (await service.audit.query({ kind: AuditKind.ADMINISTERED }, root())).events;

describe("RecordAdministration", () => {
  it("puts on record who called which method with what, and no secret", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    await service.audit.recordAdministration({ method, requestJson: `{"url":"http://a", "note":"${secret}"}` }, root());
    const [event] = await recorded();
    expect(event).toMatchObject({ principal: "user:root" });
    expect(JSON.parse(event!.argumentsJson)).toMatchObject({ method, request: { url: "http://a" } });
    expect(event!.argumentsJson).not.toContain(secret);
  });

  it("takes nothing but JSON", async () => {
    const before = await recorded();
    expect(await failure(service.audit.recordAdministration({ method, requestJson: "{url" }, root()))).toMatchObject({
      reason: "request_not_json",
    });
    expect(await recorded()).toHaveLength(before.length);
  });
});

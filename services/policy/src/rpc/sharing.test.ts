import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownerByGrant, type WorkspaceUse } from "@hlvm/grant/workspace-grant";
import { publicKeysOf } from "@hlvm/identity/public-keys";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { SessionRight } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { failure } from "../testing/test-calls.ts";

const ada: Principal = { organization: "acme", id: "user:ada", roles: ["developer", "admin", "security-auditor"] };
const ben: Principal = { organization: "acme", id: "user:ben", roles: ["developer"] };
const eve: Principal = { organization: "acme", id: "user:eve", roles: ["developer"] };

let policy: TestPolicy;
beforeAll(async () => {
  policy = await startTestPolicy();
});
afterAll(() => policy.close());

type To = { case: "principal"; value: string } | { case: "team"; value: string } | { case: "everybody"; value: object };
const to = (principal: Principal): To => ({ case: "principal", value: principal.id });

/** As the orchestrator has it recorded, with what the edge signed for the person and this session. */
const share = (sessionId: string, right: SessionRight, whom: To = to(ben), by = ada, until?: Date) =>
  policy.audit.recordSharing(
    { grant: { to: whom, right, until: until && timestampFromDate(until) } },
    policy.forRun({ principal: by, sessionId }),
  );
const unshare = (sessionId: string, whom: To, by = ada) =>
  policy.audit.recordSharing({ grant: { to: whom }, removed: true }, policy.forRun({ principal: by, sessionId }));
const take = (sessionId: string, by = ben) => policy.audit.recordHandOver({}, policy.forRun({ principal: by, sessionId }));

/** Whose workspace they may use, and for what. */
async function granted(sessionId: string, principal = ben): Promise<string> {
  const { grant } = await policy.policy.grantWorkspace({ sessionId }, policy.as(principal));
  if (grant === "") return "";
  const owner = (use: WorkspaceUse): string =>
    ownerByGrant(grant, { organization: "acme", sessionId, principal: principal.id, use }, publicKeysOf(policy.identity.grantKeys));
  try {
    return `drive ${owner("drive")}`;
  } catch {
    return `view ${owner("view")}`;
  }
}

describe("workspaces of sessions that are shared", () => {
  it("open to people, teams and the organization, for what was said, until it is over or taken back", async () => {
    const sessionId = randomUUID();
    expect(await granted(sessionId)).toBe("");
    await share(sessionId, SessionRight.VIEW);
    expect(await granted(sessionId)).toBe("view user:ada");
    const teams = createClient(TeamService, createMeshTransport(policy.url));
    await teams.createTeam({ name: "red" }, policy.as(ada));
    await teams.addTeamMember({ team: "red", principal: ben.id }, policy.as(ada));
    await share(sessionId, SessionRight.DRIVE, { case: "team", value: "red" });
    expect(await granted(sessionId)).toBe("drive user:ada");
    expect([await granted(sessionId, eve), await granted(sessionId, { ...ben, organization: "other" })]).toEqual(["", ""]);
    await teams.removeTeamMember({ team: "red", principal: ben.id }, policy.as(ada));
    expect(await granted(sessionId)).toBe("view user:ada");
    await unshare(sessionId, to(ben));
    expect(await granted(sessionId)).toBe("");
    await share(sessionId, SessionRight.COMMENT, { case: "everybody", value: {} }, ada, new Date(Date.now() + 400));
    expect(await granted(sessionId, eve)).toBe("view user:ada");
    await expect.poll(() => granted(sessionId, eve)).toBe("");
  });

  it("are never another's than whose word it was: who shares what is not theirs opens nothing of its owner's", async () => {
    const sessionId = randomUUID();
    await share(sessionId, SessionRight.DRIVE, to(ben), eve);
    expect(await granted(sessionId)).toBe("drive user:eve");
    expect(await failure(policy.audit.recordSharing({ grant: { to: to(ben) } }, policy.as(ada)))).toMatchObject({
      reason: "delegation_missing",
    });
  });

  it("go on being known under their first owner when they are handed over, with the shares, and to nobody but who was offered them", async () => {
    const sessionId = randomUUID();
    await share(sessionId, SessionRight.VIEW, to(eve));
    await share(sessionId, SessionRight.DRIVE);
    expect(await failure(take(sessionId))).toMatchObject({ reason: "session_not_offered" });
    await share(sessionId, SessionRight.OWN);
    expect(await failure(take(sessionId, eve))).toMatchObject({ reason: "session_not_offered" });
    await take(sessionId);
    // Its answer was lost: it is taken once.
    await take(sessionId);
    expect([await granted(sessionId), await granted(sessionId, ada), await granted(sessionId, eve)]).toEqual([
      "drive user:ada",
      "drive user:ada",
      "view user:ada",
    ]);
    // What the former owner still says of it counts no more, and what the new one says does.
    await share(sessionId, SessionRight.DRIVE, to(eve), ada);
    expect(await granted(sessionId, eve)).toBe("view user:ada");
    await share(sessionId, SessionRight.OWN, to(eve), ben);
    await take(sessionId, eve);
    expect([await granted(sessionId, eve), await granted(sessionId)]).toEqual(["drive user:ada", "drive user:ada"]);
  });

  it("are on record, with whom and how", async () => {
    const sessionId = randomUUID();
    await share(sessionId, SessionRight.OWN);
    await take(sessionId);
    await unshare(sessionId, to(ada), ben);
    const kinds = [AuditKind.SESSION_SHARED, AuditKind.SESSION_TAKEN, AuditKind.SESSION_UNSHARED];
    const recorded = await Promise.all(kinds.map((kind) => policy.audit.query({ kind, sessionId }, policy.as(ada))));
    const events = recorded.flatMap((read) => read.events);
    expect(events.map(({ kind, principal, argumentsJson }) => [kind, principal, JSON.parse(argumentsJson)])).toEqual([
      [AuditKind.SESSION_SHARED, "user:ada", { kind: "member", right: "own", until: "", with: "user:ben" }],
      [AuditKind.SESSION_TAKEN, "user:ben", { to: "user:ben" }],
      [AuditKind.SESSION_UNSHARED, "user:ben", { kind: "member", right: "none", until: "", with: "user:ada" }],
    ]);
  });
});

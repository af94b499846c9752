import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashAccessToken } from "@hlvm/identity/access-token";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamService, TokenResolverService, TokenScope, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { MemberRole, MemberService, MemberState, RoleSource } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { testLogins } from "../testing/log-in.ts";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf } from "../testing/test-calls.ts";

const { DEVELOPER, APPROVER, ADMIN } = MemberRole;
const root: Principal = { organization: "acme", id: "user:root@acme.test", roles: ["admin"] };
const stranger: Principal = { organization: "other", id: "user:root@acme.test", roles: ["admin"] };
const developer: Principal = { organization: "acme", id: "user:dev@acme.test", roles: ["developer"] };

let policy: TestPolicy;
let logins: ReturnType<typeof testLogins>;
beforeAll(async () => {
  policy = await startTestPolicy();
  logins = testLogins(policy);
  await logins.client.bootstrapAdministrator({ organization: "acme", email: "root@acme.test" }, policy.asEdge());
  await logins.finish({ subject: "root" });
});
afterAll(() => policy.close());

const members = () => createClient(MemberService, createMeshTransport(policy.url));
const teams = () => createClient(TeamService, createMeshTransport(policy.url));
const byHand = (role: MemberRole) => expect.objectContaining({ role, source: RoleSource.MANUAL });
const kindsSince = async (kind: AuditKind, text: string) =>
  (await policy.audit.query({ kind, text }, policy.as({ ...root, roles: ["security-auditor"] }))).events.map(
    (event) => event.argumentsJson,
  );

describe("members", () => {
  it("are there from their first login on, told by issuer and subject and never by their address", async () => {
    const { principal } = await logins.finish({ subject: "ada" });
    expect(principal).toBe("user:ada@acme.test");
    expect((await logins.finish({ subject: "ada", email: "ada.l@acme.test" })).principal).toBe(principal);
    const namesake = await logins.finish({ subject: "other-ada", email: "ada@acme.test" });
    expect(namesake.principal).toMatch(/^user:ada@acme\.test~[0-9a-f]{8}$/);
    const elsewhere = await logins.finish({ subject: "ada", issuer: "https://other.test", email: "Ada <b>@x" });
    expect(elsewhere.principal).toMatch(/^user:[0-9a-f-]{36}$/);
    const { members: found } = await members().listMembers({ text: "ada.l@" }, policy.as(root));
    expect(found).toMatchObject([{ principal, email: "ada.l@acme.test", state: MemberState.ACTIVE, roles: [] }]);
  });

  it("have roles by hand and by their groups, and lose them as soon as either goes", async () => {
    const { principal, secret } = await logins.finish({ subject: "bo", groups: ["eng", "on-call"] });
    const rolesNow = async () => (await logins.resolve(secret)).roles;
    expect(await rolesNow()).toEqual([]);
    const mapping = { group: "eng", gives: { case: "role", value: DEVELOPER } } as const;
    await members().putGroupMapping({ mapping }, policy.as(root));
    await members().putRole({ principal, role: APPROVER }, policy.as(root));
    expect(await rolesNow()).toEqual(["approver", "developer"]);
    const { members: found } = await members().listMembers({ text: "bo@" }, policy.as(root));
    expect(found[0]!.roles).toEqual([
      byHand(APPROVER),
      expect.objectContaining({ role: DEVELOPER, source: RoleSource.GROUP, group: "eng" }),
    ]);
    await expect(members().removeRole({ principal, role: DEVELOPER }, policy.as(root))).rejects.toThrow(/from the group eng/);
    await members().removeRole({ principal, role: APPROVER }, policy.as(root));
    await members().removeGroupMapping({ mapping }, policy.as(root));
    expect(await rolesNow()).toEqual([]);
    for (const kind of ["ROLE_ADDED", "ROLE_REMOVED"] as const)
      expect(await kindsSince(AuditKind[`MEMBER_${kind}`], "bo@")).toEqual([expect.stringContaining("approver")]);
    expect(await kindsSince(AuditKind.GROUP_UNMAPPED, "eng")).toHaveLength(1);
  });

  it("keep their groups where the provider says nothing of them, lose them where it names none, and may have 500", async () => {
    const many = Array.from({ length: 500 }, (_, index) => `group-${index}`);
    await teams().createTeam({ name: "platform" }, policy.as(root));
    const mapping = { group: "group-499", gives: { case: "team", value: "platform" } } as const;
    await members().putGroupMapping({ mapping }, policy.as(root));
    const { principal } = await logins.finish({ subject: "cy", groups: many });
    const teamsOf = async () => (await members().getMe({}, policy.as({ organization: "acme", id: principal, roles: [] }))).member!.teams;
    expect(await teamsOf()).toEqual(["platform"]);
    await logins.finish({ subject: "cy" });
    expect(await teamsOf()).toEqual(["platform"]);
    await logins.finish({ subject: "cy", groups: [] });
    expect(await teamsOf()).toEqual([]);
    expect(await kindsSince(AuditKind.MEMBER_GROUPS_CHANGED, "cy@")).toHaveLength(2);
  });

  it("who are suspended have no login and no token that works, and get none", async () => {
    const { principal, secret } = await logins.finish({ subject: "di" });
    await members().putRole({ principal, role: DEVELOPER }, policy.as(root));
    const di: Principal = { organization: "acme", id: principal, roles: ["developer"] };
    const tokens = createClient(TokenService, createMeshTransport(policy.url));
    const made = await tokens.createToken({ label: "nightly", scopes: [TokenScope.READ] }, policy.as(di));
    const resolver = createClient(TokenResolverService, createMeshTransport(policy.url));
    const token = () => resolver.resolveToken({ sha256: hashAccessToken(made.secret) }, policy.asEdge());
    expect((await token()).roles).toEqual(["developer"]);
    await members().suspendMember({ principal }, policy.as(root));
    await expect(logins.resolve(secret)).rejects.toThrow(/over/);
    await expect(token()).rejects.toThrow(/over/);
    await expect(logins.finish({ subject: "di" })).rejects.toThrow(/suspended/);
    expect(await kindsSince(AuditKind.LOGIN_FAILED, "member_suspended")).toHaveLength(1);
    await members().resumeMember({ principal }, policy.as(root));
    await expect(logins.resolve(secret)).rejects.toThrow(/over/);
    expect((await token()).roles).toEqual(["developer"]);
    await members().removeRole({ principal, role: DEVELOPER }, policy.as(root));
    expect((await token()).roles).toEqual([]);
  });

  it("act through no run any more that they began before, once they are suspended or have lost the role for it", async () => {
    const { principal } = await logins.finish({ subject: "gus" });
    await members().putRole({ principal, role: DEVELOPER }, policy.as(root));
    const gus: Principal = { organization: "acme", id: principal, roles: ["developer"] };
    const decide = async () => {
      const call = callOf({ tool: "read_file", arguments: { path: "a" } });
      const { verdict } = await policy.policy.decide(
        { call },
        policy.forRun({ principal: gus, sessionId: call.sessionId, runId: call.runId }),
      );
      return [verdict!.decision, verdict!.rule];
    };
    const allowed = await decide();
    expect(allowed[0]).toBe(Decision.ALLOW);
    for (const [take, give] of [
      ["suspendMember", "resumeMember"],
      ["removeRole", "putRole"],
    ] as const) {
      await members()[take]({ principal, role: DEVELOPER }, policy.as(root));
      await expect.poll(decide).toEqual([Decision.DENY, "role: missing"]);
      await members()[give]({ principal, role: DEVELOPER }, policy.as(root));
      await expect.poll(decide).toEqual(allowed);
    }
  });

  it("always include an administrator, even where two remove each other at once", async () => {
    const me = root.id;
    await expect(members().removeRole({ principal: me, role: ADMIN }, policy.as(root))).rejects.toThrow(/nobody would be an administrator/);
    await expect(members().suspendMember({ principal: me }, policy.as(root))).rejects.toThrow(/nobody would be an administrator/);
    const { principal } = await logins.finish({ subject: "eve", groups: ["chiefs"] });
    await members().putRole({ principal, role: ADMIN }, policy.as(root));
    const both = await Promise.allSettled([
      members().removeRole({ principal, role: ADMIN }, policy.as(root)),
      members().removeRole({ principal: me, role: ADMIN }, policy.as(root)),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(logins.client.bootstrapAdministrator({ organization: "acme", email: "eve@acme.test" }, policy.asEdge())).rejects.toThrow(
      /administrator already/,
    );
  });

  it("are changed by administrators of their own organization and by nobody else", async () => {
    const { principal } = await logins.finish({ subject: "fay" });
    const change = (who: Principal) => members().putRole({ principal, role: DEVELOPER }, policy.as(who));
    await expect(change(developer)).rejects.toThrow(/takes the role admin/);
    await expect(change(stranger)).rejects.toThrow(/Nobody is called/);
    await expect(members().listMembers({}, policy.as(developer))).rejects.toThrow(/takes the role/);
    expect((await members().listMembers({}, policy.as(stranger))).members).toEqual([]);
    const forRun = policy.forRun({ principal: root });
    await expect(members().suspendMember({ principal }, forRun)).rejects.toThrow(/Only a person/);
    expect(await members().getMe({}, policy.as(developer))).toMatchObject({ principal: developer.id, roles: [DEVELOPER] });
  });
});

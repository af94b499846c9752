import { create, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROLES, type Role } from "@hlvm/identity/principal";
import { DeviceService, LoginService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { TeamResolverService, TokenResolverService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { RunAnswersService, RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { accessOf, PUBLIC_SERVICES } from "@hlvm/service-edge/src/rpc/public-methods.ts";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { requestFor } from "../attacks/request-for.ts";
import { startTeamMesh, type TeamMesh } from "./team-mesh.ts";

const MEMBERS = "hlvm.identity.v1.MemberService";
const FOR_SERVICES = [LoginService, TokenResolverService, TeamResolverService, RunPolicyService, RunAnswersService];
const services = [...PUBLIC_SERVICES.map(({ service }) => service), WatchService];
const all = services.flatMap((service) => service.methods.map((method) => ({ name: `${service.typeName}/${method.name}`, method })));
const open = all.flatMap(({ name, method }) => {
  const access = accessOf(method);
  return access === undefined ? [] : [{ name, kind: method.methodKind, access }];
});
const closed = [
  ...all.filter(({ method }) => accessOf(method) === undefined),
  ...FOR_SERVICES.flatMap((service) => service.methods.map((method) => ({ name: `${service.typeName}/${method.name}`, method }))),
];

const SESSION = "0b8f8f0e-7c49-4f0c-9d7f-0f8d2f0f3a10";
const VALUES = {
  sessionId: SESSION,
  newSessionId: SESSION,
  runId: SESSION,
  approvalId: SESSION,
  definitionHash: "a".repeat(64),
  argumentsJson: "{}",
  changeJson: "{}",
  requestJson: "{}",
  method: "hlvm.x.v1.XService/X",
  path: "/workspace",
  workspace: "/workspace",
  grant: "x",
  principal: "user:x",
  model: "demo/rules",
  callId: SESSION,
  factId: SESSION,
  recallId: "1",
  claimId: SESSION,
};

let mesh: TeamMesh;
beforeAll(async () => {
  mesh = await startTeamMesh();
  mesh.people.push({ subject: "root", name: "Root", email: "root@acme.test", groups: [] });
  await mesh.bootstrap("root@acme.test");
  const root = await mesh.loggedIn("root");
  for (const role of ROLES) {
    const word = `MEMBER_ROLE_${role.replace("-", "_").toUpperCase()}`;
    await mesh.call(root, `${MEMBERS}/PutGroupMapping`, { mapping: { group: role, role: word } });
  }
});
afterAll(() => mesh.close());

const known = new Map<string, Promise<TestBrowser>>();

/** Somebody with these roles and no other. */
function withRoles(roles: readonly Role[]): Promise<TestBrowser> {
  const subject = ["person", ...roles].join("-");
  const browser = known.get(subject) ?? logIn(subject, roles);
  known.set(subject, browser);
  return browser;
}

function logIn(subject: string, groups: readonly Role[]): Promise<TestBrowser> {
  mesh.people.push({ subject, name: subject, email: `${subject}@acme.test`, groups });
  return mesh.loggedIn(subject);
}

/** As a browser calls it: a stream has its error in its last message, and its status is always 200. */
async function call(browser: TestBrowser, { name, kind }: { readonly name: string; readonly kind: string }) {
  if (kind === "unary") return mesh.call(browser, name);
  const headers = { "content-type": "application/connect+json", "sec-fetch-site": "same-origin" };
  return browser.send(`${mesh.url}/${name}`, { method: "POST", headers, body: "\0\0\0\0\u0002{}" });
}

describe("every public method", () => {
  it("is one of many", () => {
    expect(open.length).toBeGreaterThan(50);
    expect(open.map(({ name }) => name)).toContain(`${DeviceService.typeName}/AnswerDevice`);
  });

  it.each(open)("$name is closed to who is not logged in", async (method) => {
    const { status, body } = await call(new TestBrowser(), method);
    expect([status, body]).toEqual([401, expect.stringContaining("login_needed")]);
  });

  it.each(open.filter(({ access }) => access.roles.length > 0))(
    "$name is closed to who has every role but the right ones",
    async (method) => {
      const others = ROLES.filter((role) => !method.access.roles.includes(role));
      const { status, body } = await call(await withRoles(others), method);
      expect([status === 403 || method.kind !== "unary", body]).toEqual([true, expect.stringContaining("permission_denied")]);
      expect(body).toContain("that takes the role");
    },
  );

  it.each(open.filter(({ access }) => access.scopes === "person"))("$name is closed to a token of who may", async (method) => {
    const everybody = await withRoles(ROLES);
    const scopes = ["READ", "RUN", "APPROVE", "AUDIT", "ADMIN"].map((scope) => `TOKEN_SCOPE_${scope}`);
    const made = await mesh.call(everybody, "hlvm.identity.v1.TokenService/CreateToken", { label: "x", scopes });
    const { secret } = JSON.parse(made.body) as { secret: string };
    const { status, body } = await mesh.call(new TestBrowser(), method.name, {}, { authorization: `Bearer ${secret}` });
    expect([status, body]).toEqual([403, expect.stringContaining("in person")]);
  });

  it.each(closed)("no other: $name is closed to everybody", async ({ name, method }) => {
    const request = requestFor(method.input, VALUES);
    const body = toJson(method.input, create(method.input, request)) as object;
    const { status } = await mesh.call(await withRoles(ROLES), name, body);
    // A stream is asked for in another form, which is refused before.
    expect([404, method.methodKind === "unary" ? 501 : 415]).toContain(status);
  });
});

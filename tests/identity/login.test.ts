import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { startTeamMesh, type TeamMesh } from "./team-mesh.ts";

const SESSIONS = "hlvm.session.v1.SessionService";
const MEMBERS = "hlvm.identity.v1.MemberService";
const COOKIE = "__Host-hlvm";

let mesh: TeamMesh;
beforeAll(async () => {
  mesh = await startTeamMesh();
  mesh.people.push(
    { subject: "grace", name: "Grace", email: "grace@acme.test", groups: ["chiefs"] },
    { subject: "ada", name: "Ada <b>Lovelace</b>", email: "ada@acme.test", groups: ["engineers"] },
  );
  await mesh.bootstrap("grace@acme.test");
});
afterAll(() => mesh.close());

const reasonOf = (body: string): string => (JSON.parse(body) as { error?: { reason: string } }).error?.reason ?? body;
const administer = async (method: string, body: object) => {
  const answer = await mesh.call(await mesh.loggedIn("grace"), `${MEMBERS}/${method}`, body);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
};

describe("people of a company", () => {
  it("log in with its identity provider, get a cookie that their page's calls count with, and log out", async () => {
    const browser = new TestBrowser();
    const before = await mesh.call(browser, `${MEMBERS}/GetMe`);
    expect([before.status, reasonOf(before.body)]).toEqual([401, "login_needed"]);
    const end = await browser.logIn(`${mesh.url}/auth/login?to=/audit?tool=x`, "grace", (url) => url.startsWith(`${mesh.url}/audit`));
    expect(end.url).toBe(`${mesh.url}/audit?tool=x`);
    const [, session] = end.headers["set-cookie"]!;
    expect(session).toMatch(/^__Host-hlvm=[\w-]{43}; Path=\/; Max-Age=86400; Secure; HttpOnly; SameSite=Strict$/);
    const me = await mesh.call(browser, `${MEMBERS}/GetMe`);
    expect(JSON.parse(me.body)).toMatchObject({ principal: "user:grace@acme.test", roles: ["MEMBER_ROLE_ADMIN"] });
    const secret = browser.cookie(mesh.url, COOKIE)!;
    const logout = await browser.send(`${mesh.url}/auth/logout`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: "{}",
    });
    expect(JSON.parse(logout.body)).toEqual({ to: expect.stringContaining(`${mesh.provider.issuer}/session/end?client_id=hlvm`) });
    expect(browser.cookie(mesh.url, COOKIE)).toBeUndefined();
    browser.setCookie(mesh.url, COOKIE, secret);
    expect((await mesh.call(browser, `${MEMBERS}/GetMe`)).status).toBe(401);
  });

  it("may what their groups give them, as soon as they do and for as long", async () => {
    const ada = await mesh.loggedIn("ada");
    const start = () => mesh.call(ada, `${SESSIONS}/DeleteSession`, { sessionId: crypto.randomUUID() });
    const refused = await start();
    expect([refused.status, reasonOf(refused.body)]).toEqual([403, expect.stringContaining("takes the role developer or admin")]);
    const mapping = { group: "engineers", role: "MEMBER_ROLE_DEVELOPER" };
    await administer("PutGroupMapping", { mapping });
    await expect.poll(async () => (await start()).status).toBe(200);
    expect((await mesh.call(ada, `${MEMBERS}/ListMembers`)).status).toBe(403);
    await administer("RemoveGroupMapping", { mapping });
    await expect.poll(async () => (await start()).status).toBe(403);
  });

  it("are out within a second once they are suspended", async () => {
    const ada = await mesh.loggedIn("ada");
    expect((await mesh.call(ada, `${SESSIONS}/ListSessions`)).status).toBe(403);
    expect((await mesh.call(ada, `${MEMBERS}/GetMe`)).status).toBe(200);
    await administer("SuspendMember", { principal: "user:ada@acme.test" });
    await expect.poll(async () => (await mesh.call(ada, `${MEMBERS}/GetMe`)).status, { timeout: 1_500 }).toBe(401);
    const again = await new TestBrowser().logIn(`${mesh.url}/auth/login`, "ada");
    expect([again.status, again.body]).toEqual([403, expect.stringContaining("You are suspended here.")]);
    await administer("ResumeMember", { principal: "user:ada@acme.test" });
    expect((await mesh.call(await mesh.loggedIn("ada"), `${MEMBERS}/GetMe`)).status).toBe(200);
  });
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { startForgingProvider } from "./forging-provider.ts";
import { CLIENT, startTeamMesh, type TeamMesh } from "./team-mesh.ts";

const MEMBERS = "hlvm.identity.v1.MemberService";

let mesh: TeamMesh;
beforeAll(async () => {
  mesh = await startTeamMesh();
});
afterAll(() => mesh.close());

const groupsOf = async (subject: string) => {
  const find = "SELECT groups FROM identity.member WHERE subject = $1";
  return (await mesh.policy.database.database.query<{ groups: string[] }>(find, [subject]))[0]?.groups;
};
const logIn = (subject: string) => new TestBrowser().logIn(`${mesh.url}/auth/login`, subject);

describe("an identity provider", () => {
  it("may rotate its keys at any time, also in the middle of a login", async () => {
    mesh.people.push({ subject: "ada", name: "Ada", email: "ada@acme.test", groups: [] });
    const browser = new TestBrowser();
    const page = await browser.open(`${mesh.url}/auth/login`);
    expect(page.url).toContain("/choose/");
    mesh.provider.rotateKeys();
    const ada = await mesh.loggedIn("ada");
    expect((await mesh.call(ada, `${MEMBERS}/GetMe`)).status).toBe(200);
    mesh.provider.rotateKeys();
    expect((await mesh.call(await mesh.loggedIn("ada"), `${MEMBERS}/GetMe`)).status).toBe(200);
  });

  it("that says nothing of groups changes none, that names none takes them, and that cuts them lets nobody in", async () => {
    const person = { subject: "bo", name: "Bo", email: "bo@acme.test" };
    const say = (more: object): void => void mesh.people.splice(0, mesh.people.length, { ...person, ...more });
    const many = Array.from({ length: 500 }, (_, index) => `group-${index}`);
    say({ groups: many });
    await logIn("bo");
    expect(await groupsOf("bo")).toEqual(many);
    say({});
    await logIn("bo");
    expect(await groupsOf("bo")).toEqual(many);
    say({ more: { _claim_names: { groups: "src1" } } });
    const cut = await logIn("bo");
    expect([cut.status, cut.body]).toEqual([400, expect.stringContaining("did not say all of your groups")]);
    expect(await groupsOf("bo")).toEqual(many);
    say({ groups: [] });
    await logIn("bo");
    expect(await groupsOf("bo")).toEqual([]);
  });

  it.each([300, -300])("whose clock is %i s ahead of ours is told apart in a sentence", async (ahead) => {
    const forging = await startForgingProvider(CLIENT.clientId, CLIENT.clientSecret);
    onTestFinished(() => forging.close());
    const wrong = await startTeamMesh({ issuer: forging.issuer });
    onTestFinished(() => wrong.close());
    forging.forge({ ahead });
    const end = await new TestBrowser().open(`${wrong.url}/auth/login`);
    expect([end.status, end.body]).toEqual([400, expect.stringMatching(/clocks of the identity provider and of HLVM.* differ by \d+ s/)]);
  });

  it("that is down or does not answer is said to be, within its deadline", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const lonely = await startTeamMesh({ issuer: `http://127.0.0.1:${port}` });
    onTestFinished(() => lonely.close());
    const since = performance.now();
    const answer = await new TestBrowser().open(`${lonely.url}/auth/login`);
    expect([answer.status, answer.body]).toEqual([503, expect.stringContaining("did not answer within 5 s")]);
    expect(performance.now() - since).toBeLessThan(7_000);
    silent.closeAllConnections();
  });
});

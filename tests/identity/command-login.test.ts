import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runHlvm, type RunningHlvm } from "@hlvm/service-cli/src/testing/run-hlvm.ts";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { startTeamMesh, type TeamMesh } from "./team-mesh.ts";

let mesh: TeamMesh;
beforeAll(async () => {
  mesh = await startTeamMesh();
  mesh.people.push(
    { subject: "grace", name: "Grace", email: "grace@acme.test", groups: [] },
    { subject: "ada", name: "Ada \u001b[31m<b>", email: "ada@acme.test", groups: ["engineers"] },
  );
  await mesh.bootstrap("grace@acme.test");
  await mesh.loggedIn("grace");
});
afterAll(() => mesh.close());

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-profiles-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const hlvm = (directory: string, ...words: string[]): RunningHlvm =>
  runHlvm(words, { environment: { HLVM_DIR: directory, PATH: "/nowhere" } });
async function ended(running: RunningHlvm) {
  const code = await running.ended;
  return { code, stdout: running.stdout, stderr: running.stderr };
}

/** As somebody does whose terminal shows the address, and who opens it. */
async function logIn(directory: string, subject: string, ...words: string[]) {
  const running = hlvm(directory, "login", mesh.url, ...words);
  await running.shows("/auth/cli");
  const browser = new TestBrowser();
  const end = await browser.logIn(running.stdout.trim(), subject);
  expect(end.body).toContain("You are logged in");
  return ended(running);
}

describe("hlvm login", () => {
  it("logs in through a browser, keeps it to itself, is used by every command, and ends", async () => {
    const directory = newDirectory();
    const login = await logIn(directory, "grace", "--profile", "acme");
    expect([login.code, login.stderr]).toEqual([0, expect.stringContaining("as user:grace@acme.test")]);
    const file = join(directory, "profiles.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await ended(hlvm(directory, "profile", "list", "--json"))).stdout).toContain('"current":true');
    const members = await ended(hlvm(directory, "member", "list"));
    expect([members.code, members.stdout]).toEqual([0, expect.stringMatching(/user:grace@acme\.test +Grace +active +admin/)]);
    const stored = readFileSync(file, "utf8");
    expect((await ended(hlvm(directory, "logout"))).stderr).toContain("Logged out");
    const { refreshToken } = (JSON.parse(stored) as { profiles: { acme: { refreshToken: string } } }).profiles.acme;
    const again = await fetch(`${mesh.url}/auth/cli/refresh`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ refresh_token: refreshToken }),
    });
    expect(again.status).toBe(401);
    expect(readFileSync(file, "utf8")).not.toContain("hlvm_");
  });

  it("goes on by itself when its token is over, once for several commands at a time", async () => {
    const directory = newDirectory();
    await logIn(directory, "grace", "--profile", "acme");
    const file = join(directory, "profiles.json");
    const { writeFileSync } = await import("node:fs");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/"expiresAt": "[^"]+"/g, '"expiresAt": "2026-01-01T00:00:00Z"'));
    const both = await Promise.all([1, 2].map(() => ended(hlvm(directory, "group", "list"))));
    expect(both.map(({ code, stderr }) => [code, stderr])).toEqual(both.map(() => [0, expect.stringContaining("No group gives anything")]));
  });

  it("by a code is answered by who types it, and no other way", async () => {
    const directory = newDirectory();
    const running = hlvm(directory, "login", mesh.url, "--device", "--profile", "build");
    await running.shows("within ten minutes");
    const userCode = running.stdout.trim();
    expect(userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    const ada = await mesh.loggedIn("ada");
    const devices = "hlvm.identity.v1.DeviceService";
    expect((await mesh.call(ada, `${devices}/FindDevice`, { userCode })).status).toBe(200);
    expect((await mesh.call(ada, `${devices}/AnswerDevice`, { userCode, allow: true })).status).toBe(200);
    expect((await ended(running)).stderr).toContain("as user:ada@acme.test");
    const refused = await ended(hlvm(directory, "member", "suspend", "user:grace@acme.test"));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("takes the role admin")]);
  });

  it("changes what others may do where one is an administrator", async () => {
    const directory = newDirectory();
    await logIn(directory, "grace", "--profile", "acme");
    await mesh.loggedIn("ada");
    const run = async (...words: string[]) => (await ended(hlvm(directory, ...words))).stderr;
    expect(await run("group", "map", "engineers", "--role", "developer")).toContain("gives its members the role developer");
    expect(await run("member", "role", "add", "user:ada@acme.test", "security-auditor")).toMatch(
      /developer \(engineers\), security-auditor/,
    );
    expect(await run("member", "suspend", "user:ada@acme.test")).toContain("is suspended");
    const list = await ended(hlvm(directory, "member", "list", "--text", "ada"));
    expect(list.stdout).toContain("suspended");
    expect(list.stdout).not.toContain("\u001b[31m<b>");
    expect(await run("member", "resume", "user:ada@acme.test")).toContain("developer");
    expect(await run("group", "unmap", "engineers", "--role", "developer")).toContain("no longer");
  });
});

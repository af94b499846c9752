import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestBrowser } from "@hlvm/testing/test-browser";
import { CHROMIUM, hasBrowser } from "../web/web-mesh.ts";
import { meetInSession } from "./meet-in-session.ts";
import { createWorkspace, linesOf, repositoryRoot, startTestMesh, type TestMesh } from "./test-mesh.ts";
import { visitPeoplePages } from "./visit-people-pages.ts";

const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");
const directories: string[] = [];

let mesh: TestMesh;
let workspace: string;
beforeAll(async () => {
  spawnSync(process.execPath, [join(repositoryRoot, "scripts", "build-page.mjs")], { stdio: "inherit" });
  mesh = await startTestMesh({}, repositoryRoot, ["up", "--team"]);
  workspace = await createWorkspace({ "README.md": "# Shop\n" });
});
afterAll(async () => {
  await mesh.stop();
  for (const directory of [workspace, ...directories]) rmSync(directory, { recursive: true, force: true });
});

/** Somebody on a machine of their own, who logs in there as the command tells them. */
async function person(subject: string) {
  const directory = mkdtempSync(join(tmpdir(), `hlvm-${subject}-`));
  directories.push(directory);
  // No browser of this machine is to open: the address is printed then.
  const environment = { ...mesh.environment, HLVM_DIR: directory, BROWSER: "false" };
  const login = spawn(HLVM, ["login", mesh.state.edgeUrl, "--profile", "acme"], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(login, "exit");
  const [link] = (await once(login.stdout.setEncoding("utf8"), "data")) as [string];
  await new TestBrowser().logIn(link.trim(), subject);
  expect(await ended).toEqual([0, null]);
  return (...words: string[]) => mesh.hlvm(words, { cwd: workspace, environment });
}

describe("a company of two", () => {
  it.skipIf(!hasBrowser)("meet in one session: one shares it, both see what the other does, and the other takes it over", async () => {
    expect(await withBrowser((browser) => meetInSession(browser, mesh, workspace))).toEqual([]);
  });

  it("asks, is refused what is not theirs, is found in the audit log, and is out when suspended", async () => {
    const [ada, grace] = [await person("ada"), await person("grace")];
    const asked = await ada("ask", "-p", "--json", "What does this repository do?");
    expect([asked.code, linesOf(asked).at(-1)]).toEqual([0, expect.objectContaining({ type: "final" })]);
    expect((await ada("audit", "query")).stderr).toContain("takes the role security-auditor or admin");
    const logins = await grace("audit", "query", "--json", "--kind", "member_logged_in");
    for (const who of ["user:ada@acme.example", "user:grace@acme.example"]) expect(logins.stdout).toContain(who);
    expect((await grace("audit", "query", "--json")).stdout).toContain('"principal":"user:ada@acme.example"');
    expect((await grace("group", "list")).stdout).toMatch(/engineers +role developer/);
    await seesWhatIsShared(ada, grace);
    await actsAsAccount(grace);
    await grace("member", "suspend", "user:ada@acme.example");
    await expect.poll(async () => (await ada("session", "list")).stderr, { timeout: 10_000 }).toContain("Your login is over");
    expect((await mesh.hlvm(["session", "list"])).stderr).toContain("carries no login");
    const secrets = /hlvm_(cli|ref)_[0-9a-f]{16}/;
    const logs = ["edge", "policy", "identity-provider", "supervisor"].map((name) => join(mesh.directory, "logs", `${name}.log`));
    for (const log of logs) expect(readFileSync(log, "utf8")).not.toMatch(secrets);
  });

  it.skipIf(!hasBrowser)("log in with a browser, see who may what, let a command in by its code, and log out", async () => {
    expect(await withBrowser((browser) => visitPeoplePages(browser, mesh))).toEqual([]);
  });
});

async function withBrowser<Result>(work: (browser: Browser) => Promise<Result>): Promise<Result> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/** Of somebody else's session, what they share and no longer than they do. */
async function seesWhatIsShared(ada: Person, grace: Person): Promise<void> {
  const [asked] = linesOf(await grace("ask", "-p", "--json", "What is this for?")).slice(-1);
  const id = String(asked!.session_id);
  expect(await ada("session", "show", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no session") });
  await grace("session", "share", id, "--with", "user:ada@acme.example", "--right", "comment", "--until", "8h");
  expect((await ada("session", "list", "--json")).stdout).toContain(id);
  expect((await ada("session", "comment", id, "Well asked")).code).toBe(0);
  expect((await grace("session", "show", id)).stdout).toContain("user:ada@acme.example comments: Well asked");
  for (const words of [
    ["rename", id, "mine"],
    ["delete", id, "--yes"],
    ["share", id, "--with", "organization"],
  ])
    expect((await ada("session", ...words)).stderr).toContain("There is no session");
  expect((await grace("session", "share", id)).stdout).toMatch(/user:ada@acme.example +comment/);
  expect((await ada("session", "diff", id)).code).toBe(0);
  expect((await ada("ask", "-p", "--resume", id, "And now?")).stderr).toContain("There is no session");
  await grace("session", "share", id, "--with", "user:ada@acme.example", "--remove");
  expect((await ada("session", "show", id)).stderr).toContain("There is no session");
  await drivesAndTakes(ada, grace);
  for (const kind of ["session_shared", "session_unshared"]) {
    const recorded = linesOf(await grace("audit", "query", "--json", "--session", id, "--kind", kind));
    expect(recorded).toMatchObject([{ kind, principal: "user:grace@acme.example" }]);
  }
}

/** Whoever drives somebody's session works in its folder, as themselves; whoever takes it has it, and the former owner may look. */
async function drivesAndTakes(ada: Person, grace: Person): Promise<void> {
  const [asked] = linesOf(await grace("ask", "-p", "--json", "--workspace", ".", "What is this for?")).slice(-1);
  const id = String(asked!.session_id);
  await grace("session", "share", id, "--with", "user:ada@acme.example", "--right", "drive");
  const [answered] = linesOf(await ada("ask", "-p", "--json", "--resume", id, "Read README.md")).slice(-1);
  expect(answered).toMatchObject({ type: "final", session_id: id });
  const calls = linesOf(await grace("audit", "query", "--json", "--session", id, "--kind", "intent"));
  expect(new Set(calls.map(({ principal }) => principal))).toEqual(new Set(["user:grace@acme.example", "user:ada@acme.example"]));
  expect((await ada("session", "take", id)).stderr).toContain("has not offered session");
  expect((await grace("session", "hand-over", id, "--to", "user:ada@acme.example")).stdout).toBe(`hlvm session take ${id}\n`);
  expect((await ada("session", "take", id)).stderr).toContain("It is yours");
  expect(linesOf(await ada("session", "list", "--mine", "--json")).map((one) => one.session_id)).toContain(id);
  expect(linesOf(await grace("session", "list", "--shared", "--json")).map((one) => one.session_id)).toContain(id);
  expect((await grace("session", "share", id, "--with", "organization")).stderr).toContain("is shared by its owner");
  expect((await ada("ask", "-p", "--resume", id, "Read README.md")).code).toBe(0);
  expect((await grace("session", "show", id)).stdout).toContain("Handed over by grace@acme.example to ada@acme.example");
  const recorded = linesOf(await grace("audit", "query", "--json", "--session", id, "--kind", "session_taken"));
  expect(recorded).toMatchObject([{ principal: "user:ada@acme.example" }]);
}

/** A program that is nobody's asks with a token of its own, under its own name, and may not more than that. */
async function actsAsAccount(grace: Person): Promise<void> {
  const made = await grace("token", "create", "ci", "--account", "nightly", "--scope", "run");
  const environment = { ...mesh.environment, HLVM_EDGE_URL: mesh.state.edgeUrl, HLVM_TOKEN: made.stdout };
  const nightly = (...words: string[]) => mesh.hlvm(words, { cwd: workspace, environment });
  const asked = await nightly("ask", "-p", "--json", "Read README.md");
  expect([asked.code, linesOf(asked).at(-1)]).toEqual([0, expect.objectContaining({ type: "final" })]);
  expect((await nightly("audit", "query")).stderr).toMatch(/scope|role/);
  const calls = await grace("audit", "query", "--json", "--principal", "account:nightly");
  expect(calls.stdout).toContain('"principal":"account:nightly"');
  expect((await grace("token", "list", "--accounts")).stdout).toMatch(/account:nightly +ci +run/);
}

type Person = Awaited<ReturnType<typeof person>>;

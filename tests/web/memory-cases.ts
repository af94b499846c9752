import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { expect, it } from "vitest";
import { FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { importSessions } from "./import-sessions.ts";
import { PROPOSING_PAGE } from "./proposing.ts";
import type { WebMesh } from "./web-mesh.ts";

export const MEMORY_CONVERSATIONS = [
  {
    match: "what of the lighthouse",
    turns: [
      { toolCalls: [{ tool: "memory_write", arguments: { text: "The lighthouse has a new lamp" } }] },
      { text: "It has a new lamp.", delayMilliseconds: 1_500 },
    ],
  },
  PROPOSING_PAGE,
];
const MANY = 130;

const memoryOf = (web: WebMesh) => createClient(MemoryService, transportTo(web));
const statsOf = (web: WebMesh) => createClient(MemoryStatsService, transportTo(web));

function transportTo({ mesh }: WebMesh) {
  const token = readFileSync(mesh.state.tokenFile, "utf8").trim();
  return createConnectTransport({
    baseUrl: mesh.state.edgeUrl,
    httpVersion: "2",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
}

/** The memory pages. */
export function memoryCases(web: () => WebMesh): void {
  it("remembers a fact, finds it, and by its keys replaces, pins and ends it, and takes that back", async () => {
    const { page, refused, errors } = await web().open();
    await page.goto(new URL("/memory/facts", page.url()).href);
    await page.getByLabel("Something to remember").fill("Amounts are floats");
    await page.getByRole("button", { name: "Remember" }).click();
    const fact = page.getByRole("complementary", { name: "Fact" });
    await fact.getByText("Amounts are floats").waitFor();
    await page.keyboard.press("Tab");
    await page.locator("main h2").first().click();
    await page.keyboard.press("e");
    await page.getByLabel("The fact as it should be").fill("Amounts are integers");
    await page.getByRole("button", { name: "Replace" }).click();
    const bars = fact.getByRole("region", { name: "Through time" });
    await bars.getByText("Amounts are floats").waitFor();
    const state = fact.locator("dd").first();
    const history = fact.getByRole("region", { name: "History" }).getByRole("listitem");
    const pressed = async (key: string, now: string, changes: number): Promise<void> => {
      await page.locator("main h2").first().click();
      await page.keyboard.press(key);
      await expect.poll(() => history.count()).toBe(changes);
      await expect.poll(() => state.innerText()).toBe(now);
    };
    await expect.poll(() => history.count()).toBe(2);
    await pressed("p", "pinned", 3);
    await pressed("Delete", "ended", 4);
    await pressed("z", "pinned", 5);
    expect(await fact.getByText("Amounts are integers").count()).toBeGreaterThan(0);

    await page.getByRole("button", { name: "Close" }).click();
    await page.locator("main h2").first().click();
    await page.keyboard.press("/");
    await page.waitForURL(/\/memory\/search/);
    await page.keyboard.type("amounts");
    const found = page.getByRole("region", { name: "Facts that were found" }).locator("[data-row]");
    await expect.poll(() => found.allInnerTexts()).toEqual([expect.stringContaining("Amounts are integers")]);
    await page.getByLabel("Search what is remembered").fill("nonsense");
    await page.getByText("Nothing is remembered about that").waitFor();
    await page.getByRole("button", { name: "The same in a terminal" }).click();
    await page.getByText("hlvm memory search nonsense", { exact: true }).waitFor();
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("shows the river by day, older ones as one scrolls, narrowed by the address; and a fact's history after a later change elsewhere", async () => {
    const memory = memoryOf(web());
    for (let from = 0; from < MANY; from += 26)
      await Promise.all(
        Array.from({ length: 26 }, (_, n) =>
          memory.writeFact({ text: `River stone ${from + n}`, category: "river", scope: FactScope.TEAM }),
        ),
      );
    const { page, refused, errors } = await web().open();
    await page.goto(new URL("/memory/river?category=river", page.url()).href);
    const river = page.getByRole("region", { name: "What was learnt" });
    await river.getByRole("heading", { name: /^Today, / }).waitFor();
    const rows = river.locator("[data-row]");
    await expect.poll(() => rows.count()).toBeGreaterThan(10);
    expect(await rows.count()).toBeLessThan(80);
    await expect
      .poll(async () => {
        await river.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return river.getByText(/^River stone \d+$/).allInnerTexts();
      })
      .toContain("River stone 0");
    await page.getByLabel("Of which scope").selectOption("personal");
    await page.waitForURL(/scope=personal/);
    await page.getByText("No change fits").waitFor();
    await page.locator("main").getByText("hlvm memory changes --scope personal --category river").waitFor();
    await page.getByLabel("Of which scope").selectOption("team");
    await rows.first().click();
    await page.waitForURL(/fact=/);
    const fact = page.getByRole("complementary", { name: "Fact" });
    await expect.poll(() => fact.getByRole("button", { name: "End" }).isEnabled()).toBe(true);

    const factId = new URL(page.url()).searchParams.get("fact")!;
    await memory.editFact({ factId, change: { case: "pinned", value: true } });
    await fact.getByRole("button", { name: "Undo" }).click();
    await fact.getByRole("alert").getByText("was changed again since").waitFor();
    const { fact: kept } = await memory.getFact({ factId });
    expect([kept?.pinned, kept?.validTo]).toEqual([true, undefined]);
    await page.goto(new URL("/memory/facts?fact=0b8f8f0e-7c49-4f0c-9d7f-0f8d2f0f3a10", page.url()).href);
    await page.getByText("There is no fact 0b8f8f0e").waitFor();
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("follows live what people and runs write, and what runs are reminded of", async () => {
    const { mesh, workspace } = web();
    const { page, refused, errors } = await web().open();
    await page.goto(new URL(`/memory/live?project=${encodeURIComponent(workspace)}`, page.url()).href);
    await page.getByText("Following what memory does").waitFor();
    const live = page.getByRole("region", { name: "What memory does" }).locator("[data-row]");
    const row = (words: RegExp) => live.filter({ hasText: words }).first();
    await mesh.hlvm(["memory", "write", "--pinned", "The lighthouse keeper is called Ida"], { cwd: workspace });
    await row(/learnt.*Ida/s).waitFor();
    await mesh.hlvm(["ask", "-p", "--permission-mode", "acceptEdits", "--model", "scripted/script", "what of the lighthouse"], {
      cwd: workspace,
    });
    await row(/recalled.*Ida/s).waitFor();
    await row(/learnt.*new lamp.*inferred/s).click();
    const fact = page.getByRole("complementary", { name: "Fact" });
    await fact.getByText(/by a run in session [0-9a-f]{8}/).waitFor();
    await row(/recalled.*Ida/s).click();
    await page.waitForURL(/\/s\/[0-9a-f-]{36}$/);
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("has what a run proposes for everybody wait in the inbox, accepted by one button and rejected by another", async () => {
    const { mesh, workspace } = web();
    const words = ["ask", "-p", "--permission-mode", "acceptEdits", "--model", "scripted/script", "what everybody should know"];
    expect(await mesh.hlvm(words, { cwd: workspace })).toMatchObject({ code: 0 });
    const { page, refused, errors } = await web().open();
    await page.goto(new URL(`/memory/inbox?project=${encodeURIComponent(workspace)}`, page.url()).href);
    const waiting = page.getByRole("list", { name: "Proposals" }).getByRole("listitem");
    const proposal = (text: string) => waiting.filter({ hasText: text });
    await proposal("Releases are cut on Tuesdays")
      .getByText(/to remember.*team.*inferred/)
      .waitFor();
    await proposal("Releases are cut on Tuesdays").getByRole("button", { name: "Accept" }).click();
    await proposal("Releases are cut on Tuesdays").waitFor({ state: "detached" });
    await proposal("The fog horn is broken").getByRole("button", { name: "Reject" }).click();
    await proposal("The fog horn is broken").waitFor({ state: "detached" });
    const known = (await mesh.hlvm(["memory", "list", "--scope", "team", "--json"], { cwd: workspace })).stdout;
    expect(known).toContain("Releases are cut on Tuesdays");
    expect(known).not.toContain("fog horn");
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("finds sessions with other agents, opens one at the turn that a link names, and forgets them", async () => {
    const long = Array.from({ length: 120 }, (_, at) => (at === 100 ? "The keel is laid in spring" : `Plank ${at}`));
    await importSessions(web().mesh, { ship: long, "<b>markup": ["Does <script>alert(1)</script> run?", "No."] });
    const { page, refused, errors } = await web().open();
    await page.goto(new URL("/memory/sources", page.url()).href);
    const sessions = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
    await expect.poll(() => sessions.count()).toBe(2);
    await page.getByLabel("Search sessions with other agents").fill("keel spring");
    await expect.poll(() => sessions.allInnerTexts()).toEqual([expect.stringContaining("The keel is laid in spring")]);
    await sessions.getByRole("button").click();
    await page.waitForURL(/tool=claude-code&session=ship&turn=100/);
    await expect.poll(() => page.locator('[aria-current="true"]').innerText()).toContain("The keel is laid in spring");
    await page.getByRole("button", { name: "Earlier turns" }).click();
    await page.getByText("Plank 5", { exact: true }).waitFor();
    await page.getByRole("button", { name: "All sessions" }).click();
    await page.getByLabel("Search sessions with other agents").fill("");
    await sessions.getByText("Does <script>alert(1)</script> run?").waitFor();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Forget" }).click();
    await page.getByText("Nothing was imported").waitFor();
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("follows one name through time: what held when, what replaced it, what sessions said, and on to what is named with it", async () => {
    const { mesh, workspace } = web();
    const memory = memoryOf(web());
    const slot = { subject: "keel plan", predicate: "lies in", project: workspace, scope: FactScope.PERSONAL };
    await memory.writeFact({ ...slot, text: "The keel plan lies in yard/keel-old.md" });
    const { fact } = await memory.writeFact({ ...slot, text: "The keel plan lies in yard/keel.md for <b>Ada Byron</b>" });
    await importSessions(mesh, { yard: ["Who drew yard/keel.md?", "Nobody knows."] });
    const { page, refused, errors } = await web().open();
    await page.goto(new URL(`/memory/thread?project=${encodeURIComponent(workspace)}`, page.url()).href);
    await page.getByText("Follow one thing through time").waitFor();
    await page.getByLabel("A path, a name, or the id of a fact or a session").fill("yard/keel.md");
    const happened = page.getByRole("region", { name: "What happened" }).getByRole("listitem");
    await happened.filter({ hasText: "said Who drew yard/keel.md?" }).waitFor();
    await happened.filter({ hasText: "replaced" }).filter({ hasText: "<b>Ada Byron</b>" }).waitFor();
    const bars = page.getByRole("region", { name: "Through time" });
    await bars.getByText("keel-old.md").waitFor();
    await bars.getByRole("button", { name: `replaced by ${fact!.factId.slice(0, 8)}` }).click();
    const opened = page.getByRole("complementary", { name: "Fact" });
    await opened.getByRole("link", { name: "Thread" }).click();
    await page.waitForURL(new RegExp(`q=${fact!.factId}`));
    await page.getByRole("heading", { name: "The keel plan lies in yard/keel.md for <b>Ada Byron</b>" }).waitFor();
    await page.getByRole("navigation", { name: "Named together with it" }).getByRole("link", { name: "yard/keel-old.md" }).click();
    await expect.poll(() => happened.count()).toBe(2);
    await page.getByLabel("A path, a name, or the id of a fact or a session").fill("keel.md");
    await page.getByText("Nothing that is remembered speaks of it").waitFor();
    await page.getByRole("navigation", { name: "Similar names" }).getByRole("link", { name: "yard/keel.md", exact: true }).click();
    await bars.getByText("keel-old.md").waitFor();
    await page.getByRole("button", { name: "The same in a terminal" }).click();
    await page.getByText("hlvm memory thread yard/keel.md", { exact: true }).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await mesh.hlvm(["memory", "sessions", "forget", "claude-code", "--yes"]);
    await page.close();
  });

  it("tells what was asked, shown and used, explains it with today's memory, and takes marks of what was wrong", async () => {
    const { mesh, workspace } = web();
    const text = "The quarry <img src=x onerror=alert(1)> opens at 06:40";
    await mesh.hlvm(["memory", "write", text, "--scope", "project"], { cwd: workspace });
    await mesh.hlvm(["memory", "search", "when does the quarry open"], { cwd: workspace });
    await mesh.hlvm(["memory", "search", "nobody knows of gravel"], { cwd: workspace });
    const { page, refused, errors } = await web().open({ viewport: { width: 390, height: 844 } });
    await page.goto(new URL("/memory/recall", page.url()).href);
    const recalls = page.getByRole("list", { name: "Recalls" }).getByRole("listitem");
    await recalls.filter({ hasText: "nobody knows of gravel" }).getByText("nothing shown").waitFor();
    await page.getByLabel("Words of a question to memory").fill("OPEN quarry");
    await expect.poll(() => recalls.allInnerTexts()).toEqual([expect.stringContaining("when does the quarry open")]);
    await page.getByLabel("Asked by").selectOption("run");
    await page.getByText("Nothing like that was asked").waitFor();
    await page.getByLabel("Asked by").selectOption("search");
    await recalls.getByRole("button").click();
    await page.waitForURL(/recall=\d+/);
    const shown = page.getByRole("list", { name: "Facts shown" }).getByRole("listitem");
    await shown.getByText(text).waitFor();
    await shown.getByText("not known whether used").waitFor();
    await shown.getByRole("button", { name: "This was wrong" }).click();
    await shown.getByText("marked as wrong").waitFor();
    const [marked] = (await mesh.hlvm(["memory", "stats", "--json"], { cwd: workspace })).stdout.trim().split("\n");
    expect(marked).toMatch(/"facts_marked_wrong":1\b/);
    await page.getByRole("button", { name: "Explain now" }).click();
    const candidates = page.getByRole("list", { name: "Candidates" }).getByRole("listitem");
    await candidates
      .filter({ hasText: "was shown then" })
      .getByText("“quarri”")
      .or(candidates.getByText(/^“quarr/))
      .first()
      .waitFor();
    await page.getByRole("note").getByText("today’s memory, not that of then").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await shown.getByRole("button", { name: "It belonged there" }).click();
    await shown.getByRole("button", { name: "This was wrong" }).waitFor();
    await shown.getByRole("button", { name: text }).click();
    await page.getByRole("complementary", { name: "Fact" }).getByText(text).first().waitFor();
    await page.goto(new URL("/memory/recall?recall=999999999", page.url()).href);
    await page.getByText("There is no recall 999999999 of yours").waitFor();
    const { recalls: asked } = await statsOf(web()).listRecalls({ text: "quarry" });
    expect(asked).toHaveLength(1);
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("has a section in the settings: how long it keeps what is over, all of oneself as a file, sessions forgotten by tool", async () => {
    const { mesh, workspace } = web();
    await mesh.hlvm(["memory", "write", "Ada likes </script> green tea", "--scope", "personal"], { cwd: workspace });
    await importSessions(mesh, { brew: ["How is tea brewed?", "With water."] });
    const { page, refused, errors } = await web().open({ viewport: { width: 390, height: 844 } });
    await page.goto(new URL("/settings", page.url()).href);
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.accept();
    });
    await page.getByLabel("Days: Personal facts that have ended").fill("400");
    await page.getByRole("button", { name: "Set: Personal facts that have ended" }).click();
    const retention = async () => (await mesh.hlvm(["memory", "retention", "--json"], { cwd: workspace })).stdout;
    await expect.poll(retention).toMatch(/"days":400\b/);
    await expect.poll(() => page.getByRole("button", { name: "Set: Personal facts that have ended" }).isDisabled()).toBe(true);
    await page.getByLabel("Days: Personal facts that have ended").fill("");
    await page.getByRole("button", { name: "Set: Personal facts that have ended" }).click();
    await expect.poll(retention).toBe("");

    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save my memory" }).click()]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    const records = lines.map((line) => JSON.parse(line) as { type: string; record: { text?: string } });
    expect(records.map(({ type, record }) => `${type} ${record.text ?? ""}`)).toEqual(
      expect.arrayContaining(["fact Ada likes </script> green tea", "turn With water."]),
    );
    await page.getByText(`${lines.length} records`).waitFor();

    await page.getByRole("button", { name: "Forget all sessions of claude-code" }).click();
    await page.getByText("hlvm memory source list").waitFor();
    expect(asked).toEqual([expect.stringContaining("400 days"), expect.stringContaining("claude-code")]);
    await page.getByText("hlvm memory person erase").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("writes a page of the wiki and edits it on what was read, shows markup as text, and publishes what a run proposes once it is approved", async () => {
    const { mesh, workspace } = web();
    const wiki = (...words: string[]) => mesh.hlvm(["memory", "wiki", ...words], { cwd: workspace });
    const { page, refused, errors } = await web().open();
    await page.goto(new URL(`/memory/wiki?project=${encodeURIComponent(workspace)}`, page.url()).href);
    await page.getByText("The wiki has no pages yet").waitFor();
    await page.getByRole("button", { name: "New page" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Harbour Tides");
    const text = page.getByLabel("The page", { exact: true });
    await text.fill("---\ntitle: Tides\n---\nLow at *noon* <script>window.pwned=1</script>, see [[harbour/docking]].\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("cannot be a page's name").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("harbour/tides");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(/page=harbour%2Ftides&scope=project/);
    const article = page.locator("main article");
    await article.getByText("Low at noon <script>window.pwned=1</script>, see").waitFor();
    expect(await article.innerText()).not.toContain("title: Tides");
    expect(await page.evaluate("window.pwned")).toBeUndefined();

    await page.getByRole("button", { name: "Edit" }).click();
    writeFileSync(join(workspace, "tides.md"), "# Tides\nMoved meanwhile\n");
    expect(await wiki("write", "harbour/tides", "--file", "tides.md", "--base", "1")).toMatchObject({ code: 0 });
    await text.fill("# Tides\nLow at one, see [[harbour/docking]]\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("is at revision 2 now").waitFor();
    expect(await text.inputValue()).toContain("Low at one");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.reload();
    await article.getByText("Moved meanwhile").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await text.fill("# Tides\nLow at one, see [[harbour/docking]]\n");
    await page.getByLabel("Why").fill("it was read");
    await page.getByRole("button", { name: "Save" }).click();
    const history = page.getByRole("list", { name: "History" }).getByRole("listitem");
    await expect.poll(() => history.first().innerText()).toMatch(/published as 3\s+it was read\s+by /);

    const words = ["ask", "-p", "--permission-mode", "acceptEdits", "--model", "scripted/script", "how do we dock"];
    expect(await mesh.hlvm(words, { cwd: workspace })).toMatchObject({ code: 0 });
    await page.getByRole("navigation", { name: "Links" }).getByRole("link", { name: "harbour/docking" }).click();
    await page.getByRole("alert").getByText('There is no page "harbour/docking"').waitFor();
    await page.getByRole("link", { name: "All pages" }).click();
    await page.getByRole("list", { name: "Findings" }).getByText("There is no page harbour/docking.").waitFor();
    const proposal = page.getByRole("list", { name: "Proposals" }).getByRole("listitem");
    await proposal.getByText(/a new page · project · by .*, by a run in session [0-9a-f]{8}/).waitFor();
    await proposal.getByRole("link", { name: "harbour/docking" }).click();
    await article.getByText(/Look at the \[\[harbour\/tides\]\].*U\+202E.* first\./).waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await article.getByText(/^published as 1 .*approved by/).waitFor();
    await page.getByRole("link", { name: "All pages" }).click();
    const pages = page.getByRole("list", { name: "Pages" }).getByRole("listitem");
    await expect.poll(() => pages.count()).toBe(2);
    await page.getByLabel("Search the wiki").fill("ships");
    await expect.poll(() => pages.allInnerTexts()).toEqual([expect.stringContaining("Docking")]);
    await pages.getByRole("link").click();
    await page.getByRole("heading", { name: "Docking" }).waitFor();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No page holds these words.").waitFor();
    expect((await wiki("list")).stdout).not.toContain("docking");
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("says what is wrong: no answer, and that a right is missing", async () => {
    const { page } = await web().open();
    await page.route("**/ListFacts", (route) => route.abort());
    await page.goto(new URL("/memory/facts", page.url()).href);
    await page.getByText("The edge does not answer.").waitFor();
    const body = JSON.stringify({ code: "permission_denied", message: "that takes the role developer" });
    await page.route("**/ListFacts", (route) => route.fulfill({ status: 403, contentType: "application/json", body }));
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").getByText("that takes the role developer").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    await page.unrouteAll();
    await page.close();
  });
}

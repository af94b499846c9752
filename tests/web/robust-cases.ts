import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pageLink } from "@hlvm/service-cli/src/mesh/page-link.ts";
import { startCutProxy } from "./cut-proxy.ts";
import { longSession } from "./long-session.ts";
import { askInPage, type WebMesh } from "./web-mesh.ts";

const EVENTS = 10_000;
const MOST_ROWS = 80;

/** As a browser does with a tab when another one is chosen; the driven one takes all of them for looked at. */
const HIDE = `Object.defineProperty(document, "hidden", { get: () => true });
document.dispatchEvent(new Event("visibilitychange"))`;

export const ROBUST_CONVERSATIONS = [
  {
    match: "count slowly",
    turns: [{ text: Array.from({ length: 250 }, (_, at) => `w${at} x x x x x x x`).join(" "), pieceMilliseconds: 12 }],
  },
  {
    match: "write wildly",
    turns: [
      {
        text: `${"```\n~~~\n".repeat(100)}\n[here](javascript:alert(1)) \u2066turned\u2069`,
        toolCalls: [
          { tool: "shell_exec", arguments: { command: String.raw`printf 'kept\n\033[2J\033[H\033[31mred\033[0m 10%%\r99%%\n'` } },
          { tool: "shell_exec", arguments: { command: "head -c 1000000 /dev/zero | tr '\\0' x" } },
        ],
      },
      { text: "It is all there." },
    ],
  },
];

/** Long sessions, lost connections, and what a hostile model or repository writes. */
export function robustCases(web: () => WebMesh): void {
  it("opens a session of 10,000 events at its end, and keeps the reader's place while earlier ones come", async () => {
    const file = join(web().mesh.directory, "long.ndjson");
    writeFileSync(file, longSession(EVENTS, "long"));
    const { stdout } = await web().mesh.hlvm(["session", "import", file, "--workspace", web().workspace, "--json"]);
    rmSync(file);
    const id = /[0-9a-f-]{36}/.exec(stdout)![0];
    const { page, errors } = await web().open();
    await page.goto(new URL(`/s/${id}`, page.url()).href);
    const log = page.getByRole("log");
    await log
      .getByText(/^Step \d+ of question 16\d/)
      .last()
      .waitFor();
    const rows = () => log.locator("[data-index]").count();
    expect(await rows()).toBeLessThanOrEqual(MOST_ROWS);
    const height = () => log.evaluate(({ scrollHeight }) => scrollHeight);
    const before = await height();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route(/ReadEvents/, async (route) => {
      asked.resolve();
      await answered.promise;
      await route.continue();
    });
    await log.hover();
    await page.mouse.wheel(0, -500);
    await log.evaluate((one) => one.scrollTo(0, 0));
    await asked.promise;
    // The first that is there, when what stands before it comes.
    const text = await log.locator("[data-index] p").filter({ hasText: /^Step/ }).nth(1).innerText();
    const place = async (): Promise<number> => (await log.getByText(text, { exact: true }).boundingBox())!.y;
    const settled = async (): Promise<number> => {
      let last = await place();
      await expect.poll(async () => last - (last = await place())).toBe(0);
      return last;
    };
    const placed = await settled();
    answered.resolve();
    await expect.poll(height).toBeGreaterThan(before * 1.3);
    expect(Math.abs((await settled()) - placed)).toBeLessThanOrEqual(2);
    expect(await rows()).toBeLessThanOrEqual(MOST_ROWS);
    await page.getByRole("button", { name: "To the end" }).click();
    await log
      .getByText(/of question 16\d/)
      .last()
      .waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });

  it("is live in more tabs than a browser has connections, in that which is looked at", async () => {
    const { page } = await web().open();
    const context = await page.context().browser()!.newContext();
    const { edgeUrl, tokenFile } = web().mesh.state;
    const first = await context.newPage();
    await first.goto(await pageLink(edgeUrl, tokenFile));
    for (let tab = 0, shown = first; tab < 8; tab++) {
      const live = shown.locator("header span", { hasText: /^Live$/ });
      await live.waitFor();
      expect(await live.isVisible(), `tab ${tab + 1}`).toBe(true);
      await shown.evaluate(HIDE);
      shown = await context.newPage();
      await shown.goto(edgeUrl);
    }
    await context.close();
    await page.close();
  });

  it("says since when it is cut off while a run goes on, and then has all of it, once", async () => {
    const proxy = await startCutProxy(web().mesh.state.edgeUrl);
    const { page, errors } = await web().open({}, proxy.origin);
    await askInPage(page, web().workspace, "count slowly, please");
    await page.getByText("w20 x").waitFor();
    proxy.cut();
    await page.getByText(/^Reconnecting; this is as of \d/).waitFor();
    expect(await page.getByText("w20 x").count()).toBe(1);
    proxy.restore();
    await page.getByText("(Played from a script; no model was asked.)").waitFor();
    await page.getByText(/^Reconnecting/).waitFor({ state: "detached" });
    const said = (await page.getByRole("article", { name: "Answer" }).allInnerTexts()).join(" ");
    expect(said.match(/w\d+/g)).toEqual(Array.from({ length: 250 }, (_, at) => `w${at}`));
    expect(errors).toEqual([]);
    await page.close();
    await proxy.stop();
  });

  it("shows coloured output as it was read, and stays quick with a megabyte on one line and 200 open fences", async () => {
    const { page, refused, errors } = await web().open();
    await askInPage(page, web().workspace, "write wildly");
    for (let answered = 0; answered < 2; answered++) {
      const approve = page.getByRole("button", { name: "Approve once" }).first();
      if (
        (await Promise.race([
          approve.waitFor().then(() => "asked"),
          page
            .getByText("It is all there.")
            .waitFor()
            .then(() => "done"),
        ])) === "done"
      )
        break;
      await approve.click();
    }
    await page.getByText("It is all there.").waitFor();
    const first = page.getByRole("article", { name: "2 calls" }).locator("details").first();
    if (!(await first.evaluate((one) => one.hasAttribute("open")))) await first.locator("summary").click();
    const output = page.getByRole("group", { name: "Output of shell_exec" }).first();
    expect(await output.innerText()).toMatch(/^kept\n99% 10%|^kept\n99%/);
    expect(await page.locator("main a[href^='javascript']").count()).toBe(0);
    await page.getByText("⟦U+2066⟧turned").waitFor();
    const began = Date.now();
    await page.getByLabel("Ask more").fill("still quick");
    expect(Date.now() - began).toBeLessThan(2_000);
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });
}

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { pageLink } from "@hlvm/service-cli/src/mesh/page-link.ts";
import { connectAsSuperuser } from "../attacks/mesh-database.ts";
import { startCutProxy } from "./cut-proxy.ts";
import { longSession } from "./long-session.ts";
import { askInPage, type WebMesh } from "./web-mesh.ts";

const IMPORTED_EVENTS = 10_000;
/** Of the imported events, one after the other. */
const COPIES = 5;
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

/** More events than a file may hold that is imported. */
async function lengthen(web: WebMesh, sessionId: string): Promise<void> {
  const database = await connectAsSuperuser(web, "hlvm_orchestrator");
  try {
    await database.query(
      `INSERT INTO event SELECT session_id, seq + copy * $2::bigint, run_id, turn, type, payload, principal, at
       FROM event CROSS JOIN generate_series(1, $3::bigint - 1) AS copy WHERE session_id = $1`,
      [sessionId, IMPORTED_EVENTS + 1, COPIES],
    );
    const last = toBinary(EventSchema, create(EventSchema, { payload: { case: "userMessage", value: { text: "The last question" } } }));
    await database.query(
      `WITH last AS (
         INSERT INTO event SELECT session_id, max(seq) + 1, (array_agg(run_id))[1], 0, 'user_message', $2, 'user:ada', now()
         FROM event WHERE session_id = $1 GROUP BY session_id RETURNING seq
       )
       UPDATE session SET last_seq = last.seq FROM last WHERE session_id = $1`,
      [sessionId, last],
    );
  } finally {
    await database.end();
  }
}

/** Long sessions, lost connections, and what a hostile model or repository writes. */
export function robustCases(web: () => WebMesh): void {
  it("opens a session of 50,000 events at its end, and keeps the reader's place while earlier ones come", async () => {
    const file = join(web().mesh.directory, "long.ndjson");
    writeFileSync(file, longSession(IMPORTED_EVENTS, "long"));
    const { stdout } = await web().mesh.hlvm(["session", "import", file, "--workspace", web().workspace, "--json"]);
    rmSync(file);
    const id = /[0-9a-f-]{36}/.exec(stdout)![0];
    await lengthen(web(), id);
    const { page, errors } = await web().open();
    await page.goto(new URL(`/s/${id}`, page.url()).href);
    const log = page.getByRole("log");
    await log
      .getByText(/^Step \d+ of question 16\d/)
      .last()
      .waitFor();
    await log.getByText("The last question", { exact: true }).waitFor();
    const rows = () => log.locator("[data-index]").count();
    expect(await rows()).toBeLessThanOrEqual(MOST_ROWS);
    const height = () => log.evaluate(({ scrollHeight }) => scrollHeight);
    let isAsked = false;
    const answered = Promise.withResolvers<void>();
    await page.route(/ReadEvents/, async (route) => {
      isAsked = true;
      await answered.promise;
      await route.continue();
    });
    await log.hover();
    await page.mouse.wheel(0, -500);
    // Earlier ones may be on their way already: then they come in above, and the beginning is further up.
    await expect
      .poll(async () => {
        await log.evaluate((one) => one.scrollTo(0, 0));
        return isAsked;
      })
      .toBe(true);
    // The first that is there, when what stands before it comes.
    const text = await log.locator("[data-index] p").filter({ hasText: /^Step/ }).nth(1).innerText();
    const place = async (): Promise<number> => (await log.getByText(text, { exact: true }).boundingBox())!.y;
    const settled = async (): Promise<number> => {
      let last = await place();
      await expect.poll(async () => last - (last = await place())).toBe(0);
      return last;
    };
    const placed = await settled();
    const before = await height();
    answered.resolve();
    await expect.poll(height).toBeGreaterThan(before + 1_000);
    expect(Math.abs((await settled()) - placed)).toBeLessThanOrEqual(2);
    expect(await rows()).toBeLessThanOrEqual(MOST_ROWS);
    await page.getByRole("button", { name: "To the end" }).click();
    await log.getByText("The last question", { exact: true }).waitFor();
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

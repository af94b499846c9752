import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { longSession } from "../web/long-session.ts";
import { askInPage, hasBrowser, startWebMesh, type WebMesh } from "../web/web-mesh.ts";
import { eventTimes } from "./event-times.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";
import { PAGE_PROBE, type Probe } from "./page-probe.ts";

const TIMES = 7;
const EVENTS = 10_000;
const WORDS = 3_000;
const APPROVALS = 15;
const STREAM_MILLISECONDS = 20_000;
const KEYS = 60;

const approved = Array.from({ length: APPROVALS }, (_, at) => ({
  toolCalls: [{ tool: "write_file", arguments: { path: `f${at}.txt`, content: "x" } }],
}));
const CONVERSATIONS = [
  {
    match: "stream",
    turns: [
      {
        text: Array.from({ length: WORDS }, (_, at) => `w${at} x x x x x x x${at % 12 === 11 ? ".\n\n" : ""}`).join(" "),
        pieceMilliseconds: 10,
      },
    ],
  },
  { match: "ask often", turns: [...approved, { text: "That was all." }] },
];

const OPEN_LONG = `new Promise((resolve) => {
  const began = performance.now();
  const observer = new MutationObserver(() => {
    if (document.querySelector("[role=log] [data-index] *") === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
  });
  observer.observe(document, { subtree: true, childList: true });
  [...document.querySelectorAll("main a")].find(({ textContent }) => textContent === "long").click();
})`;

type Row = Readonly<Record<"what" | "p50" | "p95" | "p99" | "most" | "limit", string | number>>;

/** The page in Chromium against a mesh of its own, each number beside its limit. */
export async function benchWeb(): Promise<void> {
  if (!hasBrowser) return console.log("\nweb: there is no Chromium here");
  const web = await startWebMesh(CONVERSATIONS);
  try {
    const rows = [...sizes(), ...(await starts(web)), ...(await longOne(web)), ...(await streaming(web)), ...(await answering(web))];
    printTable("The page (milliseconds unless said otherwise)", rows);
  } finally {
    await web.stop();
  }
}

function row(what: string, numbers: readonly number[], limit: string): Row {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(numbers, share)) as [number, number, number];
  return { what, p50, p95, p99, most: Math.max(...numbers), limit };
}

function single(what: string, number: number, limit: string): Row {
  return { what, p50: "", p95: "", p99: "", most: number, limit };
}

/** All that lies in the folder; what a place loads at first is held by the test of the page. */
function sizes(): Row[] {
  const folder = join(repositoryRoot, "services", "web", "dist", "assets");
  const kilobytes = (ending: string): number =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .reduce((sum, name) => sum + readFileSync(join(folder, name)).length / 1024, 0);
  return [single("all script there is, gzip KB", kilobytes(".js.gz"), ""), single("all style there is, gzip KB", kilobytes(".css.gz"), "")];
}

async function starts(web: WebMesh): Promise<Row[]> {
  const [painted, usable, warm, script]: number[][] = [[], [], [], []];
  for (let time = 0; time < TIMES; time++) {
    const { page } = await web.open();
    const token = await page.evaluate<string>("sessionStorage.getItem('hlvm-page-token')");
    const origin = new URL(page.url()).origin;
    const context = await page.context().browser()!.newContext();
    await context.addInitScript(`sessionStorage.setItem("hlvm-page-token", ${JSON.stringify(token)})`);
    const cold = await context.newPage();
    await cold.addInitScript(PAGE_PROBE);
    for (const numbers of [usable!, warm!]) {
      await cold.goto(`${origin}/`);
      await cold.locator("#ask").waitFor();
      await cold.getByText("Live", { exact: true }).waitFor();
      const probe = await probeOf(cold);
      numbers.push(probe.usable);
      if (numbers === usable) {
        painted!.push(probe.firstPaint);
        script!.push(probe.scriptBytes / 1024);
      }
    }
    await context.close();
    await page.close();
  }
  return [
    single("script of the first load, gzip KB", Math.max(...script!), "≤ 200"),
    row("first paint, cold", painted!, "≤ 500"),
    row("usable, cold: lists shown, a question can be written", usable!, "≤ 1,000"),
    row("usable, warm", warm!, "≤ 400"),
  ];
}

async function longOne(web: WebMesh): Promise<Row[]> {
  const file = join(web.mesh.directory, "long.ndjson");
  writeFileSync(file, longSession(EVENTS, "long"));
  const { stdout } = await web.mesh.hlvm(["session", "import", file, "--workspace", web.workspace, "--json"]);
  const id = /[0-9a-f-]{36}/.exec(stdout)![0];
  const { page } = await web.open();
  await page.addInitScript(PAGE_PROBE);
  const opened: number[] = [];
  const url = new URL(`/s/${id}`, page.url()).href;
  for (let time = 0; time < TIMES; time++) {
    await page.goto(url);
    await page.locator("[role=log] [data-index]").last().waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    opened.push((await probeOf(page)).lastRow);
  }
  const switched: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    const link = page.getByRole("link", { name: "long", exact: true });
    await link.waitFor();
    // Measured in the page: how long until a row of the conversation stands there.
    switched.push(await page.evaluate<number>(OPEN_LONG));
  }
  const rowsInPage = await page.locator("[role=log] [data-index]").count();
  const heap = (await page.evaluate<number>("performance.memory.usedJSHeapSize")) / 1024 / 1024;
  await page.close();
  return [
    row(`a session of ${EVENTS.toLocaleString("en")} events at its end, page loaded anew`, opened, ""),
    row("the same from the list of sessions", switched, "≤ 400"),
    single("rows in the page", rowsInPage, "≤ 80"),
    single("heap, MB", heap, "≤ 80"),
  ];
}

async function streaming(web: WebMesh): Promise<Row[]> {
  const { page } = await web.open();
  await page.addInitScript(PAGE_PROBE);
  const path = await askInPage(page, web.workspace, "stream for long");
  await page.goto(new URL(path, page.url()).href);
  const steer = page.getByLabel("Steer this run");
  await steer.waitFor();
  await page
    .getByText(/w\d+ x/)
    .first()
    .waitFor();
  await page.evaluate("window.probe.longTasks.length = 0");
  for (let key = 0; key < KEYS; key++) {
    await steer.press("a");
    await page.waitForTimeout(STREAM_MILLISECONDS / KEYS);
  }
  const probe = await probeOf(page);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Interrupted").waitFor();
  const told = await eventTimes(web.mesh, path.slice("/s/".length), "messageDelta", (text) => /w(\d+) x/.exec(text)?.[1]);
  // What was said before the page was there was not painted late: it was not painted at all.
  const there = Math.min(...Object.values(probe.paintedAt));
  const late = Object.entries(probe.paintedAt).flatMap(([word, at]) => {
    const committed = told.get(word);
    return committed === undefined || committed < there ? [] : [Math.max(0, at - committed)];
  });
  await page.close();
  return [
    row(`event → painted, ${late.length} of them`, late, "p50 ≤ 40, p99 ≤ 100"),
    single("tasks over 50 ms while it streams for 20 s", probe.longTasks.length, "0"),
    single("the longest of them", Math.max(0, ...probe.longTasks), "≤ 50"),
    row("a key in the field → painted, while it streams", probe.keys, "p95 ≤ 32"),
  ];
}

async function answering(web: WebMesh): Promise<Row[]> {
  const { page } = await web.open();
  const path = await askInPage(page, web.workspace, "ask often");
  const clicked: number[] = [];
  for (let at = 0; at < APPROVALS; at++) {
    const approve = page.getByRole("button", { name: "Approve once" });
    // Each question is another one: the button of the one before may still stand there.
    await page
      .getByRole("article", { name: /^Waiting for you/ })
      .getByText(`f${at}.txt`)
      .first()
      .waitFor();
    await approve.and(page.locator(":enabled")).waitFor();
    clicked.push(await page.evaluate<number>("(document.querySelector('[aria-keyshortcuts=y]').click(), Date.now())"));
  }
  await page.getByText("That was all.").waitFor();
  const begun = await eventTimes(web.mesh, path.slice("/s/".length), "toolStart", (text) => /f(\d+)\.txt/.exec(text)?.[1]);
  await page.close();
  return [
    row(
      "approval: click → its call runs",
      clicked.map((at, index) => begun.get(String(index))! - at),
      "p95 ≤ 300",
    ),
  ];
}

async function probeOf(page: Page): Promise<Probe> {
  return JSON.parse(await page.evaluate<string>("JSON.stringify(window.probe)")) as Probe;
}

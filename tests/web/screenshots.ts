// `npm run screenshots`: every place of the page in both themes, wide and on a phone, as PNG files to be looked at.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startLlamaServer } from "@hlvm/testing/llama-server";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { importSessions } from "./import-sessions.ts";
import { startLabellingModel } from "./labelling-model.ts";
import { startPagePool } from "./page-pool.ts";
import { PROPOSING, PROPOSING_PAGE } from "./proposing.ts";
import { askInPage, hasBrowser, startWebMesh } from "./web-mesh.ts";

const FOLDER = join(repositoryRoot, "tests", "web", "pictures");
const call = (command: string) => ({ tool: "shell_exec", arguments: { command } });
const RED_TEST = String.raw`printf '\033[31mFAIL\033[0m  src/charges.test.ts\n  40 |  run(job)\n\033[31m> 41 |  expect(charges).toHaveLength(1)\033[0m\nTests  \033[31m1 failed\033[0m, \033[32m23 passed\033[0m (24)\n'; exit 1`;
const ANSWER = `It fails as it should: \`worker.ts\` still passes a key of its own.

| file | change |
|---|---|
| \`a.txt\` | says *hallo* |
| \`b.txt\` | goes |

\`\`\`ts
export function chargeKey(of: Id, to: Use): string {
  // One invoice and use, one charge.
  return createHash("sha256").update(\`\${of}\\n\${to}\`).digest("base64url");
}
\`\`\`

1. Take the key from the invoice
2. Look at the attempts that have none

See [the provider's page](https://example.com/keys).`;
const CONVERSATIONS = [
  PROPOSING,
  PROPOSING_PAGE,
  {
    match: "Stop double charges",
    turns: [
      { thinking: "The test has to fail first.", text: "I run the tests first.", toolCalls: [call(RED_TEST), call("cat a.txt")] },
      { text: ANSWER, toolCalls: [{ tool: "edit_file", arguments: { path: "a.txt", old_text: "hello", new_text: "hallo" } }] },
      { toolCalls: [call("rm -f b.txt && touch charges.lock")] },
      { text: "Done: both attempts carry the invoice's key." },
    ],
  },
  { match: "Round half to even", turns: [{ text: "Totals round half to even now." }] },
  { match: "Delete the old", turns: [{ toolCalls: [call("rm -rf ./build ../shared")] }, { text: "I leave it." }] },
  {
    match: "Write the notes",
    turns: [
      {
        toolCalls: ["one", "two", "three"].map((name) => ({
          tool: "write_file",
          arguments: { path: `${name}.md`, content: `# ${name}\n` },
        })),
      },
      { text: "Written." },
    ],
  },
];
const SLOT = ["--subject", "payment provider", "--predicate", "keeps key for"];
const FACTS = [
  ["The provider keeps an idempotency key for 24 hours", ...SLOT],
  ["Amounts are integers in the smallest unit, never floats", "--pinned"],
  ["Releases of web-shop go out on Wednesdays before noon", "--scope", "team"],
  ["Summaries for finance use tables, not lists", "--scope", "personal"],
  ["The provider keeps an idempotency key for 72 hours, also where the first attempt failed before it was sent", ...SLOT],
];
const SESSIONS = {
  keys: [
    "Why are charges doubled?",
    "The worker makes a key of its own for the second attempt. I take it from the invoice instead.",
    "Good, do that.",
  ],
  rounding: ["Totals are off by a cent", "They are rounded half up; finance rounds half to even."],
};
const PAGES = {
  "harbour/tides":
    "---\ntitle: Tides\nsummary: When ships may come in, and who is asked before they do\ntags: [harbour, safety]\n---\n# When\n\nTwo hours around high water, **never** at night. See [[harbour/docking]] and [[pilots]].\n\n| month | high water |\n|---|---|\n| May | 04:10 |\n",
  home: "# Where is what\n\n- [[harbour/tides]]\n",
};
/** A picture is no test: what is not there by then is to be seen. */
const SETTLE_MILLISECONDS = 400;
const INTERACTIVE: ReadonlySet<string> = new Set([
  "palette",
  "keys",
  "undo",
  "menu",
  "audit-opened",
  "memory-opened",
  "memory-recalled",
  "memory-edited",
  "memory-revision",
  "session-top",
]);
const VIEWS = [
  { name: "light-1280", colorScheme: "light", viewport: { width: 1280, height: 860 } },
  { name: "dark-1280", colorScheme: "dark", viewport: { width: 1280, height: 860 } },
  { name: "light-390", colorScheme: "light", viewport: { width: 390, height: 844 } },
  { name: "dark-390", colorScheme: "dark", viewport: { width: 390, height: 844 } },
] as const;

if (!hasBrowser) throw new Error("There is no Chromium: apt-get install chromium, or name another one with HLVM_CHROMIUM.");
const only = process.argv.slice(2);
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const pool = await startPagePool();
const embeddings = await startLlamaServer(1, { flags: ["--embeddings", "--pooling", "mean"] });
const byMeaning: Record<string, string> =
  "url" in embeddings ? { HLVM_EMBEDDINGS_URL: `${embeddings.url}/v1`, HLVM_EMBEDDINGS_MODEL: embeddings.model } : {};
const labelling = await startLabellingModel();
const web = await startWebMesh(CONVERSATIONS, { ...pool.environment, ...byMeaning, ...labelling.environment });
try {
  await web.mesh.hlvm(["memory", "labels", "on"]);
  await importSessions(web.mesh, SESSIONS);
  for (const [name, page] of Object.entries(PAGES)) {
    const file = join(web.workspace, "page.md");
    writeFileSync(file, page);
    await web.mesh.hlvm(["memory", "wiki", "write", name, "--file", file, "--reason", "asked often"], { cwd: web.workspace });
    rmSync(file);
  }
  for (const fact of FACTS) await web.mesh.hlvm(["memory", "write", ...fact], { cwd: web.workspace });
  await web.mesh.hlvm(["memory", "search", "idempotency", "key", "of", "the", "provider"], { cwd: web.workspace });
  for (const question of ["what everybody should know", "how do we dock"])
    await web.mesh.hlvm(["ask", "-p", "--permission-mode", "acceptEdits", "--model", "scripted/script", question], { cwd: web.workspace });
  const first = await web.open();
  const done = await askInPage(first.page, web.workspace, "Stop double charges on retried invoices");
  for (const tool of ["shell_exec", "edit_file", "shell_exec"]) {
    const asked = first.page.getByRole("article", { name: `Waiting for you: run ${tool}` });
    await asked.getByRole("button", { name: "Approve once" }).click();
    await asked.waitFor({ state: "detached" });
  }
  await first.page.getByText("Done: both attempts").waitFor();
  await askInPage(first.page, web.workspace, "Round half to even in totals");
  await first.page.getByText("Totals round half").waitFor();
  const asking = await askInPage(first.page, web.workspace, "Delete the old build folders");
  await first.page.getByRole("article", { name: /^Waiting for you/ }).waitFor();
  await askInPage(first.page, web.workspace, "Write the notes of the week");
  await first.page
    .getByRole("article", { name: /^Waiting for you/ })
    .first()
    .waitFor();
  await first.page.close();
  // Two slots are busy, and a server has gone.
  for (const question of ["Say hello", "Say more"]) void web.mesh.hlvm(["ask", "--model", "llama/held", question], { cwd: web.workspace });
  await pool.servers[0].chat(1);
  pool.servers[1].stop();

  const places: Readonly<Record<string, string>> = {
    sessions: "/",
    session: done,
    "session-top": done,
    "session-changes": `${done}?panel=changes`,
    "session-context": `${done}?panel=context`,
    "session-asking": asking,
    approvals: "/approvals",
    audit: "/audit",
    "audit-opened": "/audit?tool=edit_file&since=1d",
    "audit-approved": "/audit?view=approved&since=1d",
    "audit-timeline": `/audit?view=timeline&session=${done.slice("/s/".length)}`,
    "audit-counts": "/audit?view=counts&since=1d",
    "audit-tail": "/audit?view=tail",
    "audit-nothing": "/audit?text=nonsense&since=1d",
    cost: "/cost",
    models: "/models",
    "models-explain": "/models?view=explain",
    "models-pool": "/models?view=pool",
    "models-keys": "/models?view=keys",
    "memory-live": "/memory",
    "memory-pulse": "/memory/pulse",
    "memory-river": "/memory/river",
    "memory-opened": "/memory/river",
    "memory-search": "/memory/search?q=idempotency",
    "memory-facts": "/memory/facts?ended=1",
    "memory-inbox": "/memory/inbox",
    "memory-sources": "/memory/sources",
    "memory-session": "/memory/sources?tool=claude-code&session=keys&turn=1",
    "memory-thread": "/memory/thread?q=payment%20provider",
    "memory-thread-unknown": "/memory/thread?q=the%20provider",
    "memory-recall": "/memory/recall",
    "memory-recalled": "/memory/recall?q=idempotency",
    "memory-wiki": "/memory/wiki",
    "memory-page": "/memory/wiki?page=harbour/tides&scope=project",
    "memory-edited": "/memory/wiki?page=harbour/tides&scope=project",
    "memory-revision": "/memory/wiki",
    "memory-nothing": "/memory/facts?category=nonsense",
    settings: "/settings",
    "settings-memory": "/settings",
    palette: done,
    keys: "/audit",
    undo: done,
    menu: done,
  };
  for (const { name: view, ...options } of VIEWS) {
    const { page, refused, errors } = await web.open({ ...options, reducedMotion: "reduce" });
    for (const [name, path] of Object.entries(places)) {
      if (only.length > 0 && !only.includes(name)) continue;
      await page.goto(new URL(path, page.url()).href);
      await page.locator("main").first().waitFor();
      await page.waitForTimeout(SETTLE_MILLISECONDS);
      await page.evaluate("document.fonts.ready.then(() => true)");
      await shows(page, name);
      await page.screenshot({ path: join(FOLDER, `${name}-${view}.png`) });
    }
    for (const problem of [...refused, ...errors]) console.error(`${view}: ${problem}`);
    await page.close();
  }
  console.log(`The pictures are in ${FOLDER}`);
} finally {
  await web.stop();
  pool.stop();
  labelling.stop();
  if ("stop" in embeddings) await embeddings.stop();
}

/** What has to be done before a place looks as its picture is called. */
async function shows(page: Page, name: string): Promise<void> {
  if (name === "audit-opened") await page.getByRole("region", { name: "Calls" }).getByRole("button").first().click();
  if (name === "memory-opened")
    await page
      .getByRole("button", { name: /72 hours/ })
      .first()
      .click();
  if (name === "memory-recalled") {
    await page.getByRole("list", { name: "Recalls" }).getByRole("button").first().click();
    // Marked in an earlier view it stays marked.
    const marked = page.getByRole("button", { name: "It belonged there" });
    const unmarked = page.getByRole("button", { name: "This was wrong" });
    await marked.or(unmarked).first().waitFor();
    if ((await marked.count()) === 0) await unmarked.first().click();
    await page.getByRole("button", { name: "Explain now" }).click();
  }
  if (name === "settings-memory")
    await page.getByRole("heading", { name: "Memory", exact: true }).evaluate((heading) => heading.scrollIntoView());
  if (name === "memory-edited") await page.getByRole("button", { name: "Edit" }).click();
  if (name === "memory-revision") await page.getByRole("list", { name: "Proposals" }).getByRole("link").first().click();
  if (name === "session-top") await page.getByRole("log").evaluate((log) => log.scrollTo(0, 0));
  if (name === "palette") await page.keyboard.press("Control+k");
  if (name === "keys") await page.keyboard.press("?");
  if (name === "undo") await page.keyboard.press("u");
  if (name === "menu") await page.getByRole("button", { name: "More" }).click();
  if (INTERACTIVE.has(name)) await page.waitForTimeout(SETTLE_MILLISECONDS);
}

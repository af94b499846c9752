import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { pageLink } from "@hlvm/service-cli/src/mesh/page-link.ts";
import { createWorkspace, repositoryRoot, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

/** Debian's, or the one that the variable names; playwright brings none that would fit. */
export const CHROMIUM = process.env.HLVM_CHROMIUM ?? "/usr/bin/chromium";
/** Less than a test may take, so that what is missing is named. */
const LONGEST_WAIT_MILLISECONDS = 60_000;
export const hasBrowser = existsSync(CHROMIUM);

export interface WebMesh {
  readonly mesh: TestMesh;
  readonly workspace: string;
  /**
   * A page of its own, let in by a link of its own, at the mesh or at what stands before it. Addresses that were called and what the
   * content policy refused are noted.
   */
  readonly open: (options?: BrowserContextOptions, origin?: string) => Promise<OpenedPage>;
  readonly stop: () => Promise<void>;
}

export interface OpenedPage {
  readonly page: Page;
  readonly called: string[];
  readonly refused: string[];
  readonly errors: string[];
}

/** A whole mesh with its page and a scripted model, and one browser. */
export async function startWebMesh(conversations: readonly object[], more: Readonly<Record<string, string>> = {}): Promise<WebMesh> {
  spawnSync(process.execPath, [join(repositoryRoot, "scripts", "build-page.mjs")], { stdio: "inherit" });
  const scripts = mkdtempSync(join(tmpdir(), "hlvm-script-"));
  writeFileSync(join(scripts, "script.json"), JSON.stringify({ conversations }));
  const [mesh, workspace, browser] = await Promise.all([
    startTestMesh({ HLVM_SCRIPT_FILE: join(scripts, "script.json"), ...more }),
    createWorkspace({ "a.txt": "hello\nworld\n", "b.txt": "x\n" }),
    chromium.launch({ executablePath: CHROMIUM, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] }),
  ]);
  return {
    mesh,
    workspace,
    open: (options, origin = mesh.state.edgeUrl) => openPage(mesh, browser, origin, options),
    stop: async () => {
      await browser.close();
      await mesh.stop();
      rmSync(workspace, { recursive: true });
      rmSync(scripts, { recursive: true });
    },
  };
}

async function openPage(mesh: TestMesh, browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(LONGEST_WAIT_MILLISECONDS);
  const opened: OpenedPage = { page, called: [], refused: [], errors: [] };
  page.on("request", (request) => opened.called.push(request.url()));
  page.on("pageerror", (error) => opened.errors.push(error.message));
  page.on("console", (message) => {
    if (/content security policy|trusted ?types?/i.test(message.text())) opened.refused.push(message.text());
  });
  // As `hlvm web --print` makes it, without a process for each page.
  const link = new URL(await pageLink(mesh.state.edgeUrl, mesh.state.tokenFile));
  await page.goto(new URL(link.pathname + link.hash, origin).href);
  await page.getByRole("navigation", { name: "Places" }).waitFor();
  return opened;
}

/** Asks in a new session, as a person does. @returns its address, a path */
export async function askInPage(page: Page, workspace: string, question: string): Promise<string> {
  await page.goto(new URL("/", page.url()).href);
  await page.getByLabel("What is to be done").fill(question);
  await page.getByLabel(/^Workspace/).fill(workspace);
  await page.getByLabel("Model", { exact: true }).selectOption("scripted/script");
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/\/s\/[0-9a-f-]{36}$/);
  return new URL(page.url()).pathname;
}

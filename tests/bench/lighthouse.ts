import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { pageLink } from "@hlvm/service-cli/src/mesh/page-link.ts";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { askInPage, CHROMIUM, hasBrowser, startWebMesh } from "../web/web-mesh.ts";
import { printTable } from "./print-table.ts";

const VERSION = "13.5.0";
/** A hundred packages that nothing else needs: installed for this bench, when it is asked for. */
const FOLDER = join(repositoryRoot, ".cache", `lighthouse-${VERSION}`);
const RUNS = 3;
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

interface Report {
  readonly lhr: {
    readonly categories: Readonly<Record<(typeof CATEGORIES)[number], { readonly score: number | null }>>;
    readonly audits: Readonly<Record<string, { readonly score: number | null; readonly title: string; readonly scoreDisplayMode: string }>>;
  };
}

interface Lighthouse {
  readonly default: (url: string, flags: object, config?: object) => Promise<Report>;
  readonly desktopConfig: object;
}

/** What Lighthouse says of the page: the median of three runs, in a browser that is let in already. */
export async function benchLighthouse(): Promise<void> {
  if (!hasBrowser) return console.log("\nlighthouse: there is no Chromium here");
  const { default: lighthouse, desktopConfig } = await installed();
  const port = await freePort();
  const profile = mkdtempSync(join(tmpdir(), "hlvm-lighthouse-"));
  // The browser's own context: Lighthouse opens its tabs there, and the page's first tab lets them in.
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: [`--remote-debugging-port=${port}`, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
  const web = await startWebMesh([{ match: "think", turns: [{ text: "Thinking.", delayMilliseconds: 600_000 }] }]);
  try {
    const { edgeUrl, tokenFile } = web.mesh.state;
    const page = await context.newPage();
    await page.goto(await pageLink(edgeUrl, tokenFile));
    await page.getByRole("navigation", { name: "Places" }).waitFor();
    const live = await askInPage(page, web.workspace, "think for long");
    const rows = [];
    for (const [what, path, config] of [
      ["sessions, desktop", "/", desktopConfig],
      ["live session, desktop", live, desktopConfig],
      ["approvals, throttled phone", "/approvals", undefined],
    ] as const) {
      const reports: Report[] = [];
      for (let run = 0; run < RUNS; run++)
        reports.push(
          await lighthouse(
            new URL(path, edgeUrl).href,
            { port, logLevel: "error", onlyCategories: [...CATEGORIES], disableStorageReset: true },
            config,
          ),
        );
      rows.push({ what, ...scores(reports), limit: config === undefined ? "85 / 100 / 100" : "95 / 100 / 100", lost: lost(reports[0]!) });
    }
    printTable(`Lighthouse ${VERSION}, median of ${RUNS}`, rows);
  } finally {
    await context.close();
    await web.stop();
    rmSync(profile, { recursive: true, force: true });
  }
}

function scores(reports: readonly Report[]) {
  const median = (name: (typeof CATEGORIES)[number]): number => {
    const sorted = reports.map(({ lhr }) => Math.round((lhr.categories[name].score ?? 0) * 100)).sort((one, other) => one - other);
    return sorted[Math.floor(sorted.length / 2)]!;
  };
  return { performance: median("performance"), accessibility: median("accessibility"), practices: median("best-practices") };
}

/** What was found wrong, beside times. */
function lost({ lhr }: Report): string {
  const failed = Object.entries(lhr.audits).filter(([, audit]) => audit.scoreDisplayMode === "binary" && audit.score === 0);
  return failed.map(([name]) => name).join(", ");
}

async function installed(): Promise<Lighthouse> {
  const main = join(FOLDER, "node_modules", "lighthouse", "core", "index.js");
  if (!existsSync(main)) {
    console.log("installing Lighthouse (once) …");
    mkdirSync(FOLDER, { recursive: true });
    spawnSync("npm", ["install", "--prefix", FOLDER, "--no-save", "--ignore-scripts", `lighthouse@${VERSION}`], { stdio: "ignore" });
  }
  return (await import(pathToFileURL(main).href)) as Lighthouse;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

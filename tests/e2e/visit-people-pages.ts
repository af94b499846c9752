import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Browser } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { pageWithoutViolations } from "./page-without-violations.ts";
import { repositoryRoot, type TestMesh } from "./test-mesh.ts";

const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");
const SHOTS = process.env.HLVM_SCREENSHOTS;

/** What an administrator sees of people, devices and tokens. @returns what the content policy refused */
export async function visitPeoplePages(browser: Browser, mesh: TestMesh): Promise<string[]> {
  const refused: string[] = [];
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => {
    if (/content security policy|trusted ?types?/i.test(message.text())) refused.push(message.text());
  });
  const shot = async (name: string): Promise<void> => {
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  };
  await page.goto(`${mesh.state.edgeUrl}/people`);
  await shot("choose");
  await page.getByRole("button", { name: "Grace Hopper" }).click();
  await page.getByRole("table").waitFor();
  expect(new URL(page.url()).pathname).toBe("/people");
  const row = page.getByRole("row", { name: /grace@acme/ });
  expect(await row.innerText()).toMatch(/admin\s*from leads/);
  await row.getByLabel(/Give grace@acme.example a role/).selectOption("developer");
  await row.getByText("by hand").first().waitFor();
  await shot("people");
  await page.setViewportSize({ width: 390, height: 844 });
  await shot("people-phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  await pageWithoutViolations(page);
  await page.getByText("You are Grace Hopper").or(page.locator("summary")).first().click();
  await shot("account");
  const directory = mkdtempSync(join(tmpdir(), "hlvm-device-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const environment = { ...mesh.environment, HLVM_DIR: directory };
  const login = spawn(HLVM, ["login", mesh.state.edgeUrl, "--device"], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const ended = Promise.all([once(login, "exit"), text(login.stderr)]);
  const [code] = (await once(login.stdout.setEncoding("utf8"), "data")) as [string];
  await page.goto(`${mesh.state.edgeUrl}/device`);
  await page.getByLabel("Code, eight letters").fill(code.trim());
  await page.getByRole("button", { name: "Look at it" }).click();
  await page.getByText("as it says itself").waitFor();
  await shot("device");
  await pageWithoutViolations(page);
  await page.getByRole("button", { name: "Log it in as me" }).click();
  expect(await ended).toEqual([[0, null], expect.any(String)]);
  await page.goto(`${mesh.state.edgeUrl}/settings/tokens`);
  await page.getByLabel("What you will know the token by").fill("nightly");
  await page.getByLabel("What it may").selectOption("audit");
  await page.getByRole("button", { name: "Make a token" }).click();
  await page.getByText(/^hlvm_pat_/).waitFor();
  await shot("tokens");
  await pageWithoutViolations(page);
  await page.locator("summary").first().click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(/\/session\/end/);
  await page.getByRole("button", { name: /yes/i }).click();
  await page.goto(`${mesh.state.edgeUrl}/people`);
  await page.getByRole("button", { name: "Ada Lovelace" }).waitFor();
  return refused;
}

import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import { pageWithoutViolations } from "./page-without-violations.ts";
import type { TestMesh } from "./test-mesh.ts";

const SHOTS = process.env.HLVM_SCREENSHOTS;

/** Grace asks, shares with Ada, hears from her, and hands the session over. @returns what the content policy refused */
export async function meetInSession(browser: Browser, mesh: TestMesh, workspace: string): Promise<string[]> {
  const refused: string[] = [];
  const enter = async (who: string): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      if (/content security policy|trusted ?types?/i.test(message.text())) refused.push(message.text());
    });
    await page.goto(mesh.state.edgeUrl);
    await page.getByRole("button", { name: who }).click();
    await page.getByLabel("What is to be done").waitFor();
    return page;
  };
  const shot = async (page: Page, name: string): Promise<void> => {
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  };
  const [grace, ada] = [await enter("Grace Hopper"), await enter("Ada Lovelace")];
  await grace.getByLabel("What is to be done").fill("Look around");
  await grace.getByLabel(/^Workspace/).fill(workspace);
  await grace.getByRole("button", { name: "Start" }).click();
  await grace.waitForURL(/\/s\//);
  await grace.getByRole("button", { name: "Ask" }).waitFor();
  const address = new URL(grace.url()).pathname;
  await ada.goto(new URL(address, mesh.state.edgeUrl).href);
  await ada.getByText("There is no session").waitFor();

  await grace.goto(new URL(`${address}?panel=people`, mesh.state.edgeUrl).href);
  const share = async (right: string): Promise<void> => {
    await grace.getByLabel("Whom").fill("ada@acme.example");
    await grace.getByLabel("What they may").selectOption(right);
    await grace.getByRole("button", { name: "Share", exact: true }).click();
  };
  await share("may read it and comment");
  await grace.getByRole("listitem").filter({ hasText: "ada@acme.example" }).getByText("comment").waitFor();
  await shot(grace, "people-of-session");
  await pageWithoutViolations(grace);

  await ada.reload();
  await ada.getByText("shares this session with you to look at").waitFor();
  expect(await ada.getByLabel("Ask more").count()).toBe(0);
  await ada.getByLabel("Comment", { exact: true }).last().fill("Which branch is this?");
  await ada.getByRole("button", { name: "Comment" }).click();
  await grace.getByRole("log").getByText("Which branch is this?").waitFor();
  await shot(ada, "looking");

  await share("takes it over");
  await grace.getByRole("listitem").filter({ hasText: "ada@acme.example" }).getByText("may take it over").waitFor();
  await ada.goto(new URL(`${address}?panel=people`, mesh.state.edgeUrl).href);
  await ada.getByLabel("Ask more").fill("And what else?");
  await ada.keyboard.press("Enter");
  await grace.getByRole("article", { name: "ada@acme.example said" }).getByText("And what else?").waitFor();
  await shot(ada, "offered");
  await ada.getByRole("button", { name: "Take it over" }).click();
  await ada.getByText("Handed over by grace@acme.example to ada@acme.example").waitFor();
  await ada.getByRole("listitem").filter({ hasText: "grace@acme.example" }).getByText("drives it").waitFor();
  await shot(ada, "taken");
  await ada.goto(new URL("/?whose=mine", mesh.state.edgeUrl).href);
  await ada.locator(`a[href="${address}"]`).waitFor();
  await shot(ada, "sessions-mine");
  return refused;
}

import { expect, it } from "vitest";
import type { WebMesh } from "./web-mesh.ts";

/** What is done without a mouse. */
export function keyboardCases(web: () => WebMesh, session: () => string): void {
  it("is gone through by keys alone: places, lists, filter, palette, help", async () => {
    const { page, refused, errors } = await web().open();
    const origin = new URL(page.url()).origin;
    await page.getByRole("heading", { level: 2, name: "Today" }).waitFor();
    const palette = async (): Promise<void> => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Go to or act" }).waitFor();
    };
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/s\//);
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await page.waitForURL(`${origin}/audit`);
    await page.getByText(/^\d+ events?, /).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(" gs");
    expect(await page.getByLabel("The question in one line").inputValue()).toBe("since:7d gs");
    await page.keyboard.press("Escape");
    await page.keyboard.press("t");
    await page.waitForURL(/view=tail/);
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys of this page" });
    await keys.getByText("live tail").waitFor();
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });

    await palette();
    await page.keyboard.type("the greeting");
    await page
      .getByRole("option", { name: /^The greeting/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/s\//);
    await page.getByRole("log").waitFor();
    await palette();
    await page.keyboard.type("changes");
    await page.keyboard.press("Enter");
    await page.getByRole("tabpanel", { name: "changes" }).waitFor();
    await palette();
    await page.keyboard.type("what is new here");
    await page.keyboard.press("Enter");
    expect(await page.getByLabel("What is to be done").inputValue()).toBe("what is new here");
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("lets single letters be switched off, and says which command does the same", async () => {
    const { page } = await web().open();
    await page.goto(new URL("/settings", page.url()).href);
    await page.getByLabel("Single letters do something").uncheck();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Go to or act" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/settings");
    await page.keyboard.press("Escape");
    await page.getByLabel("Single letters do something").check();
    await page.goto(new URL(session(), page.url()).href);
    await page.getByRole("button", { name: "The same in a terminal" }).click();
    await page.getByText(`hlvm session show ${session().slice("/s/".length)}`).waitFor();
    await page.close();
  });
}

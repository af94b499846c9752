import { expect, it } from "vitest";
import { answerChat } from "@hlvm/service-model-gateway/src/testing/fake-llama.ts";
import type { PagePool } from "./page-pool.ts";
import type { WebMesh } from "./web-mesh.ts";

/** The models, which of them a route takes, and the servers of the pool as they work, drain and fail. */
export function modelsCases(web: () => WebMesh, pool: () => PagePool): void {
  it("tells what models are and which one a route takes for a task", async () => {
    const { page, refused, errors } = await web().open();
    await page.goto(new URL("/models", page.url()).href);
    const list = page.getByRole("region", { name: "Models" });
    expect(await list.getByRole("row", { name: /^llama\/held/ }).innerText()).toMatch(/available[^]*text[^]*32,768/);
    expect(await list.getByRole("row", { name: /claude-opus/ }).innerText()).toMatch(/not set up[^]*\$\d[^]*Set ANTHROPIC_API_KEY/);

    await page.keyboard.press("t");
    await page.getByLabel("Task").fill("Refactor the parser, and add a test");
    await page.keyboard.press("Enter");
    await page.getByText(/^auto takes/).waitFor();
    await page.getByText(/Words that count: refactor \(coding\)/).waitFor();
    expect(new URL(page.url()).search).toBe("?view=explain");
    await page.getByLabel("sees images").check();
    await page.getByText("auto finds no model that fits.").waitFor();
    await page.getByRole("listitem").filter({ hasText: "llama/held" }).getByText("no_images").waitFor();
    await page.getByLabel("sees images").uncheck();
    await page.getByLabel("Route").selectOption("route/canary");
    const fitting = page.getByRole("region", { name: "Models that fit" });
    await fitting.getByRole("row", { name: /scripted\/script 75 %/ }).waitFor();
    expect([refused, errors]).toEqual([[], []]);
    await page.close();
  });

  it("shows the pool as it works, drains a server by key and keeps the row of one that fails", async () => {
    const [held, other] = pool().servers;
    const { page, refused, errors } = await web().open();
    await page.goto(new URL("/models?view=pool", page.url()).href);
    const row = page.getByRole("listitem").filter({ hasText: held.url });
    await row.getByText("0 of 4 busy").waitFor();
    other.stop();
    const asked = web().mesh.hlvm(["ask", "--model", "llama/held", "Say hello"], { cwd: web().workspace });
    const chat = await held.chat(held.chats.length);
    await row.getByText("1 of 4 busy").waitFor();

    page.once("dialog", (dialog) => void dialog.accept());
    await row.focus();
    await page.keyboard.press("d");
    await row.getByText("draining", { exact: true }).waitFor();
    await row.getByText(/drained it$/).waitFor();
    await row.getByText("1 of 4 busy").waitFor();
    answerChat(chat);
    expect((await asked).code).toBe(0);
    await row.getByText("1 answer").waitFor();
    await row.getByRole("button", { name: /^Resume/ }).click();
    await row.getByText("ready", { exact: true }).waitFor();

    const failing = page.getByRole("listitem").filter({ hasText: other.url });
    await failing.getByText("failing", { exact: true }).waitFor();
    expect(await failing.innerText()).toContain("ECONNREFUSED");
    expect([refused, errors]).toEqual([[], []]);
    await page.close();
  });

  it("takes a key for a provider, calls with it at once, and shows and records nothing of it but its end", async () => {
    const { page, refused, errors } = await web().open();
    const [first, second] = ["sk-first-of-the-page-1111", "sk-second-of-the-page-2222"];
    const keyUsed = async (): Promise<unknown> => {
      const { mesh, workspace } = web();
      const { code, stderr } = await mesh.hlvm(["ask", "--model", "openai-compatible/m", "Say hello"], { cwd: workspace });
      expect([code, stderr]).toEqual([0, expect.anything()]);
      return pool().hosted.chats.at(-1)!.headers.authorization;
    };
    await page.goto(new URL("/models?view=keys", page.url()).href);
    await page.getByText("Your organization has given no keys").waitFor();
    await page.getByLabel("Provider").selectOption("openai-compatible");
    await page.getByLabel("Key", { exact: true }).fill(first);
    await page.keyboard.press("Enter");
    const row = page.getByRole("region", { name: "Keys" }).getByRole("row", { name: /openai-compatible/ });
    await row.getByText("…1111").waitFor();
    expect(await keyUsed()).toBe(`Bearer ${first}`);

    await row.getByRole("button", { name: "Rotate default" }).click();
    await page.getByLabel("Key", { exact: true }).fill(second);
    await page.keyboard.press("Enter");
    await row.getByText("…2222").waitFor();
    expect(await keyUsed()).toBe(`Bearer ${second}`);
    expect(await page.content()).not.toMatch(/first-of-the-page|second-of-the-page/);
    const audit = await web().mesh.hlvm(["audit", "query", "--kind", "administered", "--json"]);
    expect(audit.stdout).toMatch(/AddProviderKey[^]*RotateProviderKey|RotateProviderKey[^]*AddProviderKey/);
    expect(audit.stdout).not.toMatch(/first-of-the-page|second-of-the-page/);

    page.once("dialog", (dialog) => void dialog.accept());
    await row.getByRole("button", { name: "Remove default" }).click();
    await page.getByText("Your organization has given no keys").waitFor();
    expect([refused, errors]).toEqual([[], []]);
    await page.close();
  });
}

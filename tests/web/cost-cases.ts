import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { connectAsSuperuser } from "../attacks/mesh-database.ts";
import type { WebMesh } from "./web-mesh.ts";

/** Calls of the last days, by two models and one without a price, a cut one, a broken cache among them. */
export async function insertCalls(web: WebMesh): Promise<void> {
  const database = await connectAsSuperuser(web, "hlvm_orchestrator");
  try {
    await database.query(
      `INSERT INTO model_call (organization, principal, teams, session_id, run_id, turn, at, model, input_tokens, output_tokens,
         cache_read_tokens, cache_write_tokens, reasoning_tokens, cost, input_cost, is_estimated, reusable_tokens, break_cause, break_cost)
       SELECT 'local', $1, ARRAY['payments'], md5((i % 7)::text)::uuid, gen_random_uuid(), 1, now() - (i % 5) * interval '1 day',
         (ARRAY['anthropic/claude-opus-5', 'openai/gpt-5.5', 'llama/unpriced'])[i % 3 + 1], 12000, 400, 0, 0, 0,
         CASE WHEN i % 3 = 2 THEN NULL ELSE 90000000 * (i % 3 + 1) END, 0, i = 4, 11000, CASE WHEN i % 6 = 0 THEN 5 END,
         CASE WHEN i % 6 = 0 THEN 29700000 END
       FROM generate_series(1, 30) AS i`,
      [`user:${userInfo().username}`],
    );
  } finally {
    await database.end();
  }
}

/** What was spent, by day and model, with budgets and broken caches, and as a file. */
export function costCases(web: () => WebMesh): void {
  it("tells what models cost by day, against budgets, and where caches broke", async () => {
    await insertCalls(web());
    await web().mesh.hlvm(["budget", "set", "organization", "--max-cost", "10", "--per", "month"]);
    const { page, refused, errors } = await web().open();
    await page.goto(new URL("/cost", page.url()).href);
    const spend = page.getByRole("region", { name: "Spend by model" });
    await spend.getByRole("row", { name: /openai\/gpt-5.5/ }).waitFor();
    const row = await spend.getByRole("row", { name: /llama\/unpriced/ }).innerText();
    expect(row).toMatch(/unknown[^]*10 without a known price/);
    expect(await spend.getByRole("row", { name: /openai/ }).innerText()).toMatch(/\$1\.80[^]*1 cut, estimated/);
    expect(await page.locator("figure svg rect").count()).toBeGreaterThan(5);
    await page.getByRole("region", { name: "Broken caches" }).getByRole("row", { name: /idle/ }).waitFor();
    expect(await page.getByRole("meter").getAttribute("aria-valuetext")).toMatch(/of \$10\.00$/);

    await page.keyboard.press("m");
    await page.getByText("30 days, at most").waitFor();
    await page.keyboard.press("b");
    await page
      .getByRole("region", { name: "Spend by team" })
      .getByRole("row", { name: /payments/ })
      .waitFor();
    expect(new URL(page.url()).search).toBe("?range=month&by=team");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    const csv = readFileSync(await (await download).path(), "utf8");
    expect(csv).toMatch(/^day,team,calls,[^]*\r\n\d{4}-\d\d-\d\d,payments,\d+,/);
    expect([refused, errors]).toEqual([[], []]);
    await page.close();
  });
}

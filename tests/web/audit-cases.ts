import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { WebMesh } from "./web-mesh.ts";

/** The audit page, once a few calls have been asked for. */
export function auditCases(web: () => WebMesh, session: () => string): void {
  it("narrows the audit log by its line, its chips, its counts and its chart, all of which are its address", async () => {
    const { page, refused, errors } = await web().open();
    await page.goto(new URL("/audit", page.url()).href);
    await page.getByText(/^\d+ events?, \d+ ms$/).waitFor();
    const line = page.getByLabel("The question in one line");
    expect(await line.inputValue()).toBe("since:7d");
    await line.fill('tool:shell_exec decision:deny since:7d "rm -f a.txt"');
    await line.press("Enter");
    await page.getByText(/^1 event,/).waitFor();
    expect(new URL(page.url()).search).toBe("?tool=shell_exec&decision=deny&since=7d&text=rm+-f+a.txt");
    await page.getByRole("button", { name: "Without text rm -f a.txt" }).click();
    await page.getByRole("button", { name: "Without decision deny" }).click();
    expect(await line.inputValue()).toBe("tool:shell_exec since:7d");
    await page.getByLabel("Add a filter").selectOption("level L2");
    await page.waitForURL(/level=L2/);
    await line.fill("colour:red");
    await line.press("Enter");
    await page.getByRole("alert").getByText('There is no field "colour"').waitFor();

    await page.goto(new URL("/audit?since=1d", page.url()).href);
    await page.getByRole("button", { name: /^edit_file/ }).click();
    await page.waitForURL(/tool=edit_file/);
    const chart = page.getByRole("img", { name: /^Events over time/ });
    const box = (await chart.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/until=/);
    const { searchParams } = new URL(page.url());
    const hours = (Date.parse(searchParams.get("until")!) - Date.parse(searchParams.get("since")!)) / 3_600_000;
    expect(hours).toBeGreaterThan(8);
    expect(hours).toBeLessThan(16);
    await page.getByRole("region", { name: "Calls" }).getByText("edit_file").first().waitFor();
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("opens a call to its intent, the person's approval and its outcome, and goes on from there", async () => {
    const { page, errors } = await web().open();
    await page.goto(new URL(`/audit?tool=edit_file&step=approval&since=1d&session=${session().slice("/s/".length)}`, page.url()).href);
    const calls = page.getByRole("region", { name: "Calls" });
    await calls.getByRole("button").first().click();
    await page.getByRole("heading", { name: /^Approval/ }).waitFor();
    await calls.getByText('{"new_text":"hallo","old_text":"hello","path":"a.txt"}').waitFor();
    expect(await calls.getByRole("term").allInnerTexts()).toEqual(expect.arrayContaining(["Who", "By", "Result", "Rule"]));
    await page.getByRole("button", { name: "Who let it through" }).click();
    await page
      .getByRole("region", { name: "Calls that were let through" })
      .getByText(/, once$/)
      .waitFor();
    await page.getByRole("button", { name: "Session timeline" }).click();
    await page.getByRole("heading", { name: /^Run 1/ }).waitFor();
    await page.getByText("approval answered").first().waitFor();
    await page.getByRole("button", { name: "Counts" }).click();
    await page.getByRole("table", { name: "Decision" }).getByText("allow").waitFor();
    await page.goto(new URL("/audit?view=touched&path=b.txt&since=1d", page.url()).href);
    await page.getByText("rm -f b.txt").first().waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });

  it("asks before it reads the whole log, and says what to try where nothing fits", async () => {
    const { page } = await web().open();
    await page.goto(new URL("/audit?since=all&text=nonsense", page.url()).href);
    await page.getByText("This reads the whole log").waitFor();
    await page.getByRole("button", { name: "Last 7d" }).click();
    await page.getByText("No call fits").waitFor();
    await page.getByRole("button", { name: "Without text", exact: true }).click();
    await page.getByRole("region", { name: "Calls" }).waitFor();
    expect(new URL(page.url()).search).toBe("?since=7d");
    await page.close();
  });

  it("follows what is recorded, and saves all that fits as CSV and as NDJSON", async () => {
    const { page, refused } = await web().open();
    await page.goto(new URL("/audit?view=tail", page.url()).href);
    await page.getByText("Following what is recorded").waitFor();
    const asking = web().mesh.hlvm(["ask", "-p", "--model", "scripted/script", "look once more"], { cwd: web().workspace });
    const events = page.getByRole("region", { name: "Events as they come" });
    await events.getByText("read_file").first().waitFor();
    await asking;
    await page.getByRole("button", { name: "Calls", exact: true }).click();
    const save = async (name: string): Promise<string> => {
      await page.getByRole("button", { name: "Export" }).click();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      await page.getByRole("button", { name: "Export" }).click();
      return readFileSync(await download.path(), "utf8");
    };
    const csv = (await save("CSV, for a spreadsheet")).split("\r\n");
    expect(csv[0]).toMatch(/^id,at,kind,principal,session_id,/);
    const lines = (await save("NDJSON, for a program")).trim().split("\n");
    expect(lines.length).toBe(csv.length - 2);
    expect(lines.map((line) => (JSON.parse(line) as { tool: string }).tool)).toContain("read_file");
    expect(refused).toEqual([]);
    await page.close();
  });
}

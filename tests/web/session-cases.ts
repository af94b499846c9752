import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { askInPage, type WebMesh } from "./web-mesh.ts";

export const SESSION_CONVERSATIONS = [
  {
    match: "keep a list",
    turns: [
      { text: "I begin it.", toolCalls: [{ tool: "write_file", arguments: { path: "list.txt", content: "const key = a;\n" } }] },
      { text: "I go on.", toolCalls: [{ tool: "edit_file", arguments: { path: "list.txt", old_text: "= a;", new_text: "= b;" } }] },
      { text: "Both are done." },
    ],
  },
  {
    match: "read far",
    turns: [
      { toolCalls: [{ tool: "read_file", arguments: { path: "far.txt", start_line: 1, end_line: 5000 } }] },
      { text: "That was far." },
    ],
  },
];

/** What is done with one session. */
export function sessionCases(web: () => WebMesh): void {
  it("goes back to an earlier turn once it was seen what that is, and saves a session as NDJSON", async () => {
    const { page, refused, errors } = await web().open();
    await askInPage(page, web().workspace, "keep a list");
    for (const tool of ["write_file", "edit_file"])
      await page
        .getByRole("article", { name: `Waiting for you: run ${tool}` })
        .getByRole("button", { name: "Approve once" })
        .click();
    await page.getByText("Both are done.").waitFor();
    const list = join(web().workspace, "list.txt");
    expect(readFileSync(list, "utf8")).toBe("const key = b;\n");
    await page.getByRole("log").focus();
    await page.keyboard.press("u");
    const dialog = page.getByRole("dialog", { name: "Undo to a turn" });
    await dialog.getByRole("radio").nth(1).check();
    await dialog.getByText("1 file put back", { exact: false }).waitFor();
    expect(readFileSync(list, "utf8")).toBe("const key = b;\n");
    await dialog.getByRole("button", { name: "Go back to turn 1" }).click();
    await page.getByText("Undone: back to turn 1").waitFor();
    expect(readFileSync(list, "utf8")).toBe("const key = a;\n");
    await page.keyboard.press("u");
    await dialog.getByRole("radio").first().check();
    await dialog.getByRole("button", { name: "Go back to before the first turn" }).click();
    await page.getByText("Undone: back to turn 0").waitFor();
    expect(existsSync(list)).toBe(false);
    await page.getByRole("button", { name: "More" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as NDJSON" }).click()]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    expect(JSON.parse(lines[0]!)).toMatchObject({ type: "session", format: 2 });
    expect({ refused, errors }).toEqual({ refused: [], errors: [] });
    await page.close();
  });

  it("shows the end of a long output, and all of it when that is asked for", async () => {
    const { page, errors } = await web().open();
    writeFileSync(join(web().workspace, "far.txt"), Array.from({ length: 5_000 }, (_, at) => `so far ${at}\n`).join(""));
    await askInPage(page, web().workspace, "read far");
    await page.getByText("That was far.").waitFor();
    const call = page.getByRole("article", { name: "Call of read_file" });
    await call.locator("summary").click();
    const shown = (name: string): Promise<string> => call.getByRole("group", { name }).innerText();
    const end = await shown("Output of read_file");
    expect([end.includes("so far 4999"), end.includes("so far 0\n")]).toEqual([true, false]);
    await call.getByRole("button", { name: "Show all of it" }).click();
    const all = await shown("All that read_file printed");
    expect([all.includes("so far 4999"), all.includes("so far 0\n")]).toEqual([true, true]);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("sends files along with a question, and says which it cannot", async () => {
    const { page, errors } = await web().open();
    await page.goto(new URL("/", page.url()).href);
    const note = join(web().mesh.directory, "note.txt");
    const bytes = join(web().mesh.directory, "data.bin");
    writeFileSync(note, "remember this");
    writeFileSync(bytes, new Uint8Array([0, 159, 146, 150]));
    await page.getByLabel("Attach files", { exact: true }).setInputFiles([note, bytes]);
    await page.getByText("data.bin is neither text", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Without note.txt" }).waitFor();
    await page.getByLabel("What is to be done").fill("look once more");
    await page.getByLabel(/^Workspace/).fill(web().workspace);
    await page.getByLabel("Model", { exact: true }).selectOption("scripted/script");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("article", { name: /said$/ }).getByText("note.txt").waitFor();
    await page.getByText("Seen.").waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });
}

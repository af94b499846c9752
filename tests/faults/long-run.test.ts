import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

const TURNS = 300;
const TASK = "Read the file again and again; the word that counts is HERON.";

let mesh: TestMesh;
let workspace: string;
const folder = mkdtempSync(join(tmpdir(), "hlvm-long-run-"));

beforeAll(async () => {
  const turns = Array.from({ length: TURNS }, (_, index) => ({
    text: `Step ${index + 1}.`,
    toolCalls: [{ tool: "read_file", arguments: { path: "lines.txt", start_line: index + 1, end_line: index + 20 } }],
  }));
  const script = {
    contextWindow: 16_384,
    conversations: [
      { match: "<transcript>", turns: [{ text: "## Done: lines of lines.txt were read." }] },
      { match: TASK, turns: [...turns, { text: "The word is HERON." }] },
    ],
  };
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  mesh = await startTestMesh({
    HLVM_SCRIPT_FILE: join(folder, "script.json"),
    HLVM_MODEL: "scripted/script",
    HLVM_MAXIMUM_TURNS: "400",
  });
  const lines = Array.from({ length: TURNS + 20 }, (_, index) => `line ${index + 1} of a file that is read in pieces`);
  workspace = await createWorkspace({ "lines.txt": `${lines.join("\n")}\n` }, true);
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
  rmSync(folder, { recursive: true });
});

it("takes 300 turns in a window of 16K, and shows what is left in it", { timeout: 240_000 }, async () => {
  const ended = await mesh.hlvm(["ask", "-p", "--json", TASK], { cwd: workspace });
  const lines = linesOf(ended);
  expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: expect.stringContaining("The word is HERON.") });
  expect(eventsOf(lines, "tool_end").filter(({ success }) => success === true)).toHaveLength(TURNS);
  const compactions = eventsOf(lines, "compaction");
  expect(compactions.length).toBeGreaterThan(3);
  expect(compactions.every(({ method }) => method === "model")).toBe(true);

  const listed = linesOf(await mesh.hlvm(["session", "list", "--json"], { cwd: workspace }));
  const shown = await mesh.hlvm(["session", "context", String(listed[0]!.session_id)], { cwd: workspace });
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toMatch(/^scripted\/script · \d+ tokens of 16384, 4096 of them kept for the answer/);
  expect(shown.stdout).toMatch(/^1 +\S+ +user-claimed +instruction .*HERON/m);
  expect(shown.stdout).toMatch(/inferred +summary/);
  expect(shown.stdout).toMatch(/the context was too full .* summarised by the model/);
});

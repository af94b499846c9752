import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorkspace, linesOf, startTestMesh, type TestMesh } from "./test-mesh.ts";

let mesh: TestMesh;
let workspace: string;

/** A model that writes a file, changes it and another one by a command, and answers. */
const script = {
  conversations: [
    {
      match: "work",
      turns: [
        { toolCalls: [{ tool: "write_file", arguments: { path: "made.txt", content: "one\n" } }] },
        { toolCalls: [{ tool: "shell_exec", arguments: { command: "echo two >> made.txt; rm a.txt" } }] },
        { text: "It is done." },
      ],
    },
  ],
};

beforeAll(async () => {
  workspace = await createWorkspace({ "a.txt": "a\n", "b.txt": "b\n" });
  const scriptFile = join(workspace, "script.json");
  writeFileSync(scriptFile, JSON.stringify(script));
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: scriptFile, HLVM_MODEL: "scripted/script" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

it("a session is shown as a patch, undone turn by turn, forked, exported and imported through the whole mesh", async () => {
  const asked = await mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "work please"], { cwd: workspace });
  const sessionId = linesOf(asked).at(-1)!.session_id as string;
  const made = join(workspace, "made.txt");
  expect([readFileSync(made, "utf8"), existsSync(join(workspace, "a.txt"))]).toEqual(["one\ntwo\n", false]);
  writeFileSync(join(workspace, "b.txt"), "by hand\n");

  const diff = await mesh.hlvm(["session", "diff", sessionId], {});
  expect(diff.stdout).toContain("diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n");
  expect(diff.stdout).toContain("--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n");
  expect(diff.stderr).toContain("Others changed these too, which is in the patch: b.txt.");

  const undone = await mesh.hlvm(["session", "undo", sessionId, "--to", "1", "--yes"], {});
  expect(undone.stderr).toContain(
    "Back at turn 1: 2 turns undone, 2 paths went back.\nLeft as they are, since others changed them: b.txt.",
  );
  expect([readFileSync(made, "utf8"), readFileSync(join(workspace, "a.txt"), "utf8")]).toEqual(["one\n", "a\n"]);
  expect(readFileSync(join(workspace, "b.txt"), "utf8")).toBe("by hand\n");

  const before = await mesh.hlvm(["session", "undo", sessionId, "--to", "0", "--yes"], {});
  expect(before.stderr).toContain("Back at turn 0: 1 turn undone");
  expect(existsSync(made)).toBe(false);

  const forked = await mesh.hlvm(["session", "fork", sessionId, "--at", "2", "--json"], {});
  expect(JSON.parse(forked.stdout)).toMatchObject({ forked_from: sessionId, forked_at_sequence: 2 });
  const exported = await mesh.hlvm(["session", "export", sessionId], {});
  writeFileSync(join(workspace, "export.ndjson"), exported.stdout);
  const imported = await mesh.hlvm(["session", "import", "export.ndjson", "--json"], { cwd: workspace });
  expect(JSON.parse(imported.stdout)).toMatchObject({ imported: true, title: "work please" });
  const found = await mesh.hlvm(["session", "list", "--text", "it is done", "--json"], {});
  expect(found.stdout.trim().split("\n")).toHaveLength(2);
});

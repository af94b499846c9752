import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, linesOf, startTestMesh, type TestMesh } from "./test-mesh.ts";

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  mesh = await startTestMesh();
  workspace = await createWorkspace({ "README.md": "# Anvil\n" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

describe("hlvm", () => {
  it("doctor finds nothing that fails, and tells how isolation is reached", async () => {
    const checks = linesOf(await mesh.hlvm(["doctor", "--json"])) as unknown as { name: string; result: string; detail: string }[];
    expect(checks.filter(({ result }) => result === "fail")).toEqual([]);
    expect(checks).toContainEqual(expect.objectContaining({ name: "process limit", result: "ok" }));
    expect(checks).toContainEqual(expect.objectContaining({ name: "network namespace", result: "ok" }));
  });

  it("model list names the demo as the default, and for each other provider what to set", async () => {
    const listed = await mesh.hlvm(["model", "list"]);
    expect(listed.stdout).toContain("demo/rules");
    expect(listed.stdout).toContain("ANTHROPIC_API_KEY");
  });

  it("status names every service with its process and log file", async () => {
    const { stdout } = await mesh.hlvm(["status"]);
    for (const service of ["edge", "orchestrator", "model-gateway", "sandbox", "policy", "memory", "PostgreSQL", "Meilisearch"])
      expect(stdout).toContain(service);
  });

  it("session list and show tell what was asked and answered", async () => {
    const asked = linesOf(await mesh.hlvm(["ask", "--json", "What does this repository do?"], { cwd: workspace }));
    const sessionId = String(asked.at(-1)!.session_id);
    const listed = linesOf(await mesh.hlvm(["session", "list", "--json"]));
    expect(listed).toContainEqual(expect.objectContaining({ session_id: sessionId, title: "What does this repository do?" }));
    const shown = await mesh.hlvm(["session", "show", sessionId]);
    expect(shown.stdout + shown.stderr).toContain("Anvil");
  });

  it("memory write replaces what was said of the same subject and predicate", async () => {
    const about = ["--subject", "deploy", "--predicate", "day"];
    await mesh.hlvm(["memory", "write", ...about, "We deploy on Mondays"], { cwd: workspace });
    await mesh.hlvm(["memory", "write", ...about, "We deploy on Fridays"], { cwd: workspace });
    const found = await mesh.hlvm(["memory", "search", "deploy"], { cwd: workspace });
    expect(found.stdout).toContain("Fridays");
    expect(found.stdout).not.toContain("Mondays");
  });
});

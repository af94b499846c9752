import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, linesOf, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

let mesh: TestMesh;
let workspace: string;
let place: string;

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "hlvm-backups-"));
  mesh = await startTestMesh();
  workspace = await createWorkspace({ "teapot.js": "export const brew = () => 418;\n" }, true);
});
afterAll(async () => {
  await mesh.stop();
  for (const folder of [workspace, place]) rmSync(folder, { recursive: true });
});

describe("hlvm backup and restore", () => {
  it("brings a whole mesh back elsewhere: sessions, memory with its index, and the audit log", async () => {
    const [folder, directory] = [join(place, "backup"), join(place, "restored")];
    expect(await mesh.hlvm(["ask", "--json", "What is in here?"], { cwd: workspace })).toMatchObject({ code: 0 });
    expect(await mesh.hlvm(["memory", "write", "--scope", "personal", "The teapot answers 418"])).toMatchObject({ code: 0 });
    const asking = mesh.hlvm(["ask", "--json", "And what is in here now?"], { cwd: workspace });
    const backup = await mesh.hlvm(["backup", folder, "--json"]);
    expect(backup).toMatchObject({ code: 0 });
    expect(await asking).toMatchObject({ code: 0 });

    const there = { environment: { HLVM_DIR: directory } };
    const refused = await mesh.hlvm(["restore", folder]);
    expect(refused.stderr).toContain("A mesh is up in");
    expect(await mesh.hlvm(["restore", folder, "--json"], there)).toMatchObject({ code: 0 });
    const [sessions, found, calls] = [
      await mesh.hlvm(["session", "list", "--json"], there),
      await mesh.hlvm(["memory", "search", "teapot", "--json"], there),
      await mesh.hlvm(["audit", "query", "--json"], there),
    ];
    expect(linesOf(sessions).length).toBeGreaterThan(0);
    expect(found.stdout).toContain("The teapot answers 418");
    expect(linesOf(calls).length).toBeGreaterThan(0);
  }, 120_000);
});

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PublicJwk } from "@hlvm/identity/public-keys";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

const SIGNERS = ["edge", "orchestrator", "policy"];

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  mesh = await startTestMesh();
  workspace = await createWorkspace({ "README.md": "# Teapot\n", "teapot.js": "export const brew = () => 418;\n" }, true);
});
afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const kidOf = (signer: string): string =>
  (JSON.parse(readFileSync(join(mesh.directory, "keys", `${signer}.jwk`), "utf8")) as PublicJwk).kid!;

/** A question whose answer takes tokens, a delegation and grants of every service that signs. */
async function ask(): Promise<void> {
  const ended = await mesh.hlvm(["ask", "--json", "What is in here?"], { cwd: workspace });
  const lines = linesOf(ended);
  expect(ended).toMatchObject({ code: 0 });
  expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
  const results = eventsOf(lines, "tool_end").map(({ success }) => success);
  expect(results.length).toBeGreaterThan(0);
  expect(results).not.toContain(false);
}

describe("hlvm keys rotate", () => {
  it("gives every service that signs a new key while the mesh runs, and no question fails, before, meanwhile or after", async () => {
    await ask();
    const before = SIGNERS.map(kidOf);
    const rotation = mesh.hlvm(["keys", "rotate", "--json"]);
    const over = rotation.then(() => "over");
    let asking: Promise<void>;
    do asking = ask();
    while ((await Promise.race([over, asking])) !== "over");
    await asking;
    const ended = await rotation;
    expect(ended).toMatchObject({ code: 0 });
    const { rotated, replaced_count_until: until } = JSON.parse(ended.stdout) as { rotated: unknown; replaced_count_until: string };
    expect(rotated).toEqual(SIGNERS.map((service, index) => ({ service, kid: kidOf(service), replaced: before[index] })));
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(23 * 60 * 60 * 1_000);
    await ask();
    for (const signer of SIGNERS) expect(before).not.toContain(kidOf(signer));
  }, 120_000);
});

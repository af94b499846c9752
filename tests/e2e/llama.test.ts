import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startLlamaServer, type LlamaServerAttempt } from "@hlvm/testing/llama-server";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type TestMesh } from "./test-mesh.ts";

let llama: LlamaServerAttempt;
let embeddings: LlamaServerAttempt;
let mesh: TestMesh | undefined;
let workspace: string;

beforeAll(async () => {
  llama = await startLlamaServer();
  embeddings = await startLlamaServer(1, { flags: ["--embeddings", "--pooling", "mean"] });
  workspace = await createWorkspace({ "README.md": "# Loom\n" });
  if ("url" in llama && "url" in embeddings)
    mesh = await startTestMesh({
      HLVM_LLAMA_URLS: llama.url,
      HLVM_EMBEDDINGS_URL: `${embeddings.url}/v1`,
      HLVM_EMBEDDINGS_MODEL: embeddings.model,
    });
}, 180_000);

afterAll(async () => {
  await mesh?.stop();
  for (const server of [llama, embeddings]) if ("stop" in server) await server.stop();
  rmSync(workspace, { recursive: true });
});

it("a real llama-server answers through the whole mesh, chosen because its URL is set", async (context) => {
  if (mesh === undefined) return context.skip("unavailable" in llama ? llama.unavailable : "");
  const ended = await mesh.hlvm(["ask", "--json", "Say something."], { cwd: workspace });
  const lines = linesOf(ended);
  expect(eventsOf(lines, "run_started")).toEqual([expect.objectContaining({ model: "llama/random" })]);
  expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
  expect(String(lines.at(-1)!.text).length).toBeGreaterThan(0);
  expect((lines.at(-1)!.usage as { output_tokens: number }).output_tokens).toBeGreaterThan(0);
});

it("a real llama-server gives facts their vectors, and a search tells what their meaning counts", async (context) => {
  if (mesh === undefined) return context.skip("unavailable" in embeddings ? embeddings.unavailable : "");
  for (const text of ["The loom weaves linen", "The loom stands in Ghent", "Lunch is at noon"]) await mesh.hlvm(["memory", "write", text]);
  const counts = async () => linesOf(await mesh!.hlvm(["memory", "stats", "--json"]))[0]!.embeddings;
  await expect.poll(counts, { timeout: 20_000 }).toEqual({ model: "random", made: 3, waiting: 0, refused: 0 });
  expect((await mesh.hlvm(["memory", "stats"])).stdout).toContain("3 texts have their vector by random, 0 wait");
  const found = linesOf(await mesh.hlvm(["memory", "search", "which loom?", "--json"])).map(({ parts }) => parts as { similarity: number });
  expect(found.length).toBeGreaterThanOrEqual(2);
  expect(found.some(({ similarity }) => similarity !== 0)).toBe(true);
  expect((await mesh.hlvm(["memory", "search", "which loom?", "--explain"])).stdout).toMatch(/^SCORE.*MEANS/);
});

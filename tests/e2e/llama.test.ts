import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startLlamaServer, type LlamaServerAttempt } from "@hlvm/testing/llama-server";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type TestMesh } from "./test-mesh.ts";

let llama: LlamaServerAttempt;
let mesh: TestMesh | undefined;
let workspace: string;

beforeAll(async () => {
  llama = await startLlamaServer();
  workspace = await createWorkspace({ "README.md": "# Loom\n" });
  if ("url" in llama) mesh = await startTestMesh({ HLVM_LLAMA_URLS: llama.url });
}, 180_000);

afterAll(async () => {
  await mesh?.stop();
  if ("stop" in llama) await llama.stop();
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

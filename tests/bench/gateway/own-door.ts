import { readFileSync } from "node:fs";
import { startTestMesh } from "../../e2e/test-mesh.ts";
import { httpWay } from "./http-way.ts";
import type { Started } from "./peers.ts";

/** A whole mesh, called at its door for programs: authenticated, limited by budgets, settled, on record. */
export async function startOwnDoor(upstream: string): Promise<Started> {
  const mesh = await startTestMesh({ HLVM_OPENAI_COMPATIBLE_URL: upstream });
  const token = readFileSync(mesh.state.tokenFile, "utf8").trim();
  const headers = { authorization: `Bearer ${token}` };
  const name = "the door for programs, with ledger and audit";
  const way = httpWay({ name, url: `${mesh.state.edgeUrl}/v1`, headers, prefix: "openai-compatible/" });
  return { way, stop: () => mesh.stop() };
}

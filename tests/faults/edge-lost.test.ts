import { rmSync } from "node:fs";
import { afterAll, beforeAll, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { expectWholeRun, runInThreeViews, startCountingMesh } from "../e2e/run-in-three-views.ts";
import type { TestMesh } from "../e2e/test-mesh.ts";

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  ({ mesh, workspace } = await startCountingMesh());
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const edgePid = (): number => readMeshState(mesh.directory)!.services.find(({ name }) => name === "edge")!.pid!;

it("a run whose edge is killed, and started again by the supervisor, is shown whole, once, and the exit code is the run's", async () => {
  expectWholeRun(await runInThreeViews(mesh, workspace, async () => void process.kill(edgePid(), "SIGKILL")));
}, 120_000);

import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { expectWholeRun, runInThreeViews, startCountingMesh } from "../e2e/run-in-three-views.ts";
import type { TestMesh } from "../e2e/test-mesh.ts";

/** Longer than a client takes to notice that nobody answers its pings, and less than until the supervisor replaces what hangs. */
const FROZEN_MILLISECONDS = 24_000;

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

it("a run whose edge is frozen for 24 s is shown whole, once, and the exit code is the run's", async () => {
  const views = await runInThreeViews(mesh, workspace, async () => {
    const pid = edgePid();
    process.kill(pid, "SIGSTOP");
    await sleep(FROZEN_MILLISECONDS).finally(() => process.kill(pid, "SIGCONT"));
  });
  expectWholeRun(views);
  expect(views.shown.stdout.match(/The connection to the run is lost; resuming it/g)).toHaveLength(1);
}, 120_000);

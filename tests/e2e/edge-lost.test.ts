import { rmSync, writeFileSync } from "node:fs";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import type { Ended } from "./run-program.ts";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line, type TestMesh } from "./test-mesh.ts";

/** Longer than a client takes to notice that nobody answers its pings. */
const FROZEN_MILLISECONDS = 22_000;

const count = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done";
const script = {
  conversations: [
    { match: "count", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command: count } }] }, { text: "Counted." }] },
  ],
};

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  workspace = await createWorkspace({});
  const scriptFile = join(workspace, "script.json");
  writeFileSync(scriptFile, JSON.stringify(script));
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: scriptFile, HLVM_MODEL: "scripted/script" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const edgePid = (): number => readMeshState(mesh.directory)!.services.find(({ name }) => name === "edge")!.pid!;

/** One run in three views: NDJSON where it was asked, NDJSON and text where it is watched. `harm` comes in its middle. */
async function runInThreeViews(harm: () => Promise<void>): Promise<{ asked: Ended; watched: Ended; shown: Ended }> {
  const seen = new EventEmitter();
  const tell = (name: string) => (line: string) => {
    const { event } = JSON.parse(line) as Line;
    if (event?.type === "tool_output") seen.emit(name, String(event.session_id));
  };
  const asking = mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "count please"], {
    cwd: workspace,
    onLine: tell("asked"),
  });
  const [sessionId] = (await once(seen, "asked")) as [string];
  const bothWatch = Promise.all([once(seen, "watched"), once(seen, "shown")]);
  const watching = mesh.hlvm(["session", "watch", sessionId, "--json"], { onLine: tell("watched") });
  const showing = mesh.hlvm(["session", "watch", sessionId], { onLine: () => seen.emit("shown") });
  await bothWatch;
  await harm();
  const [asked, watched, shown] = await Promise.all([asking, watching, showing]);
  return { asked, watched, shown };
}

function expectWholeRun({ asked, watched, shown }: { asked: Ended; watched: Ended; shown: Ended }): void {
  expect({ asked: asked.code, watched: watched.code, shown: shown.code }).toEqual({ asked: 0, watched: 0, shown: 0 });
  const lines = linesOf(asked);
  expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
  const sequences = lines.flatMap(({ event }) => (event === undefined ? [] : [Number(event.sequence)]));
  expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other));
  expect(
    eventsOf(lines, "tool_output")
      .map(({ text }) => text)
      .join(""),
  ).toBe("1\n2\n3\n4\n5\n6\n7\n8\n");
  expect(linesOf(watched)).toEqual(lines);
  expect(shown.stdout.match(/Counted\./g)).toHaveLength(1);
}

describe("an edge that is lost in the middle of a run", () => {
  it("frozen for 22 s: the run is shown whole, once, and the exit code is the run's", async () => {
    const views = await runInThreeViews(async () => {
      const pid = edgePid();
      process.kill(pid, "SIGSTOP");
      await sleep(FROZEN_MILLISECONDS).finally(() => process.kill(pid, "SIGCONT"));
    });
    expectWholeRun(views);
    expect(views.shown.stdout.match(/The connection to the run is lost; resuming it/g)).toHaveLength(1);
  }, 120_000);

  it("killed and started again by the supervisor: the same", async () => {
    const views = await runInThreeViews(async () => void process.kill(edgePid(), "SIGKILL"));
    expectWholeRun(views);
  }, 120_000);
});

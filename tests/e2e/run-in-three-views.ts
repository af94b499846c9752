import { writeFileSync } from "node:fs";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { expect } from "vitest";
import type { Ended } from "./run-program.ts";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line, type TestMesh } from "./test-mesh.ts";

const count = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 1.5; done";
const script = {
  conversations: [
    { match: "count", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command: count } }] }, { text: "Counted." }] },
  ],
};

export interface Views {
  readonly asked: Ended;
  readonly watched: Ended;
  readonly shown: Ended;
}

/** A mesh whose model has a command count to eight in twelve seconds, in which a busy machine starts two watchers; and a workspace for it. */
export async function startCountingMesh(): Promise<{ readonly mesh: TestMesh; readonly workspace: string }> {
  const workspace = await createWorkspace({});
  const scriptFile = join(workspace, "script.json");
  writeFileSync(scriptFile, JSON.stringify(script));
  return { mesh: await startTestMesh({ HLVM_SCRIPT_FILE: scriptFile, HLVM_MODEL: "scripted/script" }), workspace };
}

/** One run in three views: NDJSON where it was asked, NDJSON and text where it is watched. `harm` comes in its middle. */
export async function runInThreeViews(mesh: TestMesh, workspace: string, harm: () => Promise<void>): Promise<Views> {
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

/** Each shows all of it, once. */
export function expectWholeRun({ asked, watched, shown }: Views): void {
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

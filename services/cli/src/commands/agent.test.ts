import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ProfileSource, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { workerTree } from "../run/worker-tree.ts";
import { edgeWith } from "../testing/edge-with.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm, type RunOptions } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

function workspaceWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".hlvm/agents"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, ".hlvm/agents", name), text);
  return folder;
}

const reviewer = "---\nname: reviewer\ndescription: Reviews\ntools: [read_file]\n---\nLook\u202E closely.\n";
const broken = "---\nname: broken\ndescription: d\ntools: [sorcery]\n---\n";

async function hlvm(words: readonly string[], options: RunOptions) {
  const running = runHlvm(words, options);
  const exitCode = await running.ended;
  return { exitCode, stdout: running.stdout, stderr: running.stderr };
}

describe("hlvm agent", () => {
  it("list shows ours and those of files, and what is wrong with which line", async () => {
    const workingDirectory = workspaceWith({ "a.md": reviewer, "b.md": broken });
    const listed = await hlvm(["agent", "list"], { workingDirectory });
    expect(listed.stdout).toMatch(/^AGENT +FROM +TOOLS +DESCRIPTION\ngeneral +HLVM +all /);
    expect(listed.stdout).toMatch(/reviewer +\.hlvm\/agents\/a\.md +1 +Reviews/);
    expect(listed.stderr).toContain('.hlvm/agents/b.md:4: there is no tool "sorcery"; it is left out');
    const lines = jsonLines((await hlvm(["agent", "list", "--json"], { workingDirectory })).stdout);
    expect(lines.at(-2)).toMatchObject({ type: "agent", name: "reviewer", source: "workspace", tools: { tools: ["read_file"] } });
    expect(lines.at(-1)).toMatchObject({ type: "agent_mistake", path: ".hlvm/agents/b.md", line: 4, is_fatal: true });
  });

  it("show gives all of one, with what hides in it", async () => {
    const workingDirectory = workspaceWith({ "a.md": reviewer });
    const shown = await hlvm(["agent", "show", "reviewer"], { workingDirectory });
    expect(shown.stdout).toContain("tools read_file\nmodel that of the run\nworkers none\n");
    expect(shown.stdout).not.toContain("\u202E");
    const none = await hlvm(["agent", "show", "sorcerer"], { workingDirectory });
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("There is no agent profile")]);
  });
});

describe("hlvm ask --agent", () => {
  const files = { ".hlvm/agents/a.md": reviewer, ".hlvm/agents/b.md": broken };
  const answering = () => edgeWith(async (it) => it.stop(StopReason.COMPLETED, { text: "done" }));
  const asks = ["ask", "--agent", "reviewer", "review"];

  it("sends a workspace's profile once its text is trusted, as a person sees it, and says where it comes from", async () => {
    const edge = await answering();
    const workingDirectory = workspaceWith({});
    edge.trust.files = files;
    const options = { edgeUrl: edge.url, workingDirectory };
    const refused = await hlvm(asks, options);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("is not trusted, or has changed since")]);
    expect(refused.stderr).toContain("What to do: `hlvm trust add` shows it and asks.");
    expect(edge.requests).toEqual([]);
    expect((await hlvm(["trust", "add", "--yes"], options)).exitCode).toBe(0);
    const asked = await hlvm(asks, options);
    expect(asked.stderr).toContain("agent reviewer: from .hlvm/agents/a.md of this workspace");
    expect(asked.stderr).toContain('.hlvm/agents/b.md:4: there is no tool "sorcery"');
    const only = {
      name: "reviewer",
      source: ProfileSource.WORKSPACE,
      tools: { tools: ["read_file"] },
      instructions: "Look⟦U+202E⟧ closely.",
    };
    expect(edge.requests[0]!.agent).toMatchObject(only);
    await hlvm(["ask", "plain"], options);
    expect(edge.requests[1]!.agent).toBeUndefined();
    const unknown = await hlvm(["ask", "--agent", "sorcerer", "x"], options);
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('There is no agent profile "sorcerer"')]);
    edge.trust.files = { ".hlvm/agents/a.md": reviewer.replace("closely", "away") };
    expect((await hlvm(asks, options)).exitCode).toBe(1);
  });

  it("asks on a terminal whether a profile is trusted, also of a workspace that lies elsewhere, and keeps what was trusted there", async () => {
    const edge = await answering();
    const resumed = ["ask", "--resume", edge.sessionId, "--agent", "reviewer", "review"];
    edge.trust.files = { "AGENTS.md": "Use tabs.", ...files };
    const workspace = `copy:${edge.sessionId}`;
    edge.trust.trusted.set(workspace, [{ path: "AGENTS.md", sha256: "0".repeat(64), text: "Use tabs." }]);
    for (const [key, exitCode] of [
      ["n", 1],
      ["y", 0],
    ] as const) {
      const running = runHlvm(resumed, { edgeUrl: edge.url, terminal: true });
      await running.shows("Trust .hlvm/agents/a.md? [y/n]");
      expect(running.stdout).toContain("| Look⟦U+202E⟧ closely.");
      running.child.stdin!.write(key);
      expect(await running.ended).toBe(exitCode);
    }
    expect(edge.requests).toMatchObject([{ agent: { name: "reviewer" } }]);
    expect(edge.trust.trusted.get(workspace)!.map(({ path }) => path)).toEqual(["AGENTS.md", ".hlvm/agents/a.md"]);
  });

  it("shows what workers do, and which of them asks", async () => {
    const callId = "r.1.1";
    const about = { callId, childSessionId: "0b7a4c1e-0000-4000-8000-000000000001", agentType: "explore" };
    const edge = await edgeWith(async (it) => {
      it.append({ case: "workerSpawned", value: { ...about, task: "look\u001b[2J around" } } as never);
      const approval = { approvalId: "0b7a4c1e-0000-4000-8000-000000000002", state: 1 };
      const check = { callId: "c.1.1", tool: "write_file", decision: Decision.ASK, step: DecidingStep.MODE, approval };
      it.append({ case: "workerPermission", value: { callId, agentTypes: ["general", "file"], check } } as never);
      it.append({
        case: "workerCompleted",
        value: { ...about, success: true, stopReason: StopReason.COMPLETED, turns: 2, filesTouched: ["a"] },
      } as never);
      it.stop(StopReason.COMPLETED, { text: "done" });
    });
    await hlvm(["ask", "x"], { edgeUrl: edge.url });
    const shown = await hlvm(["session", "show", edge.sessionId], { edgeUrl: edge.url });
    expect(shown.stdout).toContain("→ worker explore: look");
    expect(shown.stdout).not.toContain("\u001b[2J");
    expect(shown.stdout).toContain("worker general › file: write_file waits for an approval");
    expect(shown.stdout).toContain("✓ worker explore · completed · 2 turns");
    const json = jsonLines((await hlvm(["session", "watch", edge.sessionId, "--json"], { edgeUrl: edge.url })).stdout);
    const types = json.map(({ event }) => (event as { type?: string } | undefined)?.type);
    expect(types.filter((type) => type?.startsWith("worker_"))).toEqual(["worker_spawned", "worker_permission", "worker_completed"]);
  });
});

describe("workerTree", () => {
  it("draws workers below whom they work for", () => {
    const worker = (sessionId: string, parentSessionId: string, seconds: bigint, lastStopReason: StopReason = StopReason.COMPLETED) =>
      create(SessionSchema, {
        sessionId,
        parentSessionId,
        agentType: "explore",
        title: `task ${sessionId}`,
        lastStopReason,
        createdAt: { seconds },
      });
    const all = [worker("c", "root", 3n, StopReason.USER_CANCELLED), worker("b", "a", 2n), worker("a", "root", 1n)];
    expect(workerTree("root", all)).toBe(`workers
├─ explore · a · completed · task a
│  └─ explore · b · completed · task b
└─ explore · c · user_cancelled · task c
`);
    expect(workerTree("root", [])).toBe("");
  });
});

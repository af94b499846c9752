import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importSessions } from "../web/import-sessions.ts";
import { createWorkspace, linesOf, startTestMesh, type TestMesh } from "./test-mesh.ts";

let mesh: TestMesh;
let workspace: string;
let home: string;

beforeAll(async () => {
  workspace = await createWorkspace({ "README.md": "# Anvil\n" }, true);
  home = await createWorkspace({ ".claude/settings.json": '{"model":"opus"}' });
  mesh = await startTestMesh();
});

afterAll(async () => {
  await mesh.stop();
  for (const folder of [workspace, home]) rmSync(folder, { recursive: true });
});

interface LoggedEvent {
  readonly decision: string;
  readonly session: string;
}

/** Where memory's answer came too late for a tool that waits a second. */
const TOO_LATE: ReadonlySet<string> = new Set(["late", "no-answer"]);

function loggedEvents(): LoggedEvent[] {
  const file = join(mesh.directory, "hooks.jsonl");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LoggedEvent);
}

/** What was answered in time. */
function answeredEvents(): LoggedEvent[] {
  return loggedEvents().filter(({ decision }) => !TOO_LATE.has(decision));
}

/** On a machine that is busy an answer may come too late, which is on record then: the event is told again. */
async function fire(command: string, event: object): Promise<string> {
  for (;;) {
    const said = await fireOnce(command, event);
    if (!TOO_LATE.has(loggedEvents().at(-1)?.decision ?? "")) return said;
  }
}

/** What `hlvm hook test` says that the hook would have answered in time. */
async function testHook(prompt: string): Promise<unknown[]> {
  for (;;) {
    const tested = linesOf(await mesh.hlvm(["hook", "test", "--json", ...prompt.split(" ")], { cwd: workspace }));
    if (!TOO_LATE.has(String(tested[0]?.decision))) return tested;
  }
}

/** What a tool would do: runs the command that stands in its settings, through a shell. */
async function fireOnce(command: string, event: object): Promise<string> {
  const child = spawn("/bin/sh", ["-c", command], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", HOME: home },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stdin.end(JSON.stringify(event));
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  return said;
}

interface ClaudeSettings {
  readonly hooks: Readonly<Record<string, { hooks: { command: string }[] }[]>>;
}

describe("the recall hook", () => {
  it("is installed, tells a prompt where something is remembered, and leaves no trace in the settings", async () => {
    const environment = { HOME: home };
    const settings = join(home, ".claude", "settings.json");
    chmodSync(settings, 0o640);
    const before = readFileSync(settings);
    const said = (words: string[]) => mesh.hlvm(["memory", "write", "--json", ...words], { cwd: workspace });
    const [written] = linesOf(await said(["The staging cluster of Anvil runs in Falkenstein", "--scope", "project"]));
    const id = (written as unknown as { fact_id: string }).fact_id;
    await said(["Answers are in British English", "--pinned"]);

    expect(linesOf(await mesh.hlvm(["hook", "install", "--live", "--json"], { environment }))).toMatchObject([
      { tool: "claude-code", outcome: "installed", live: true },
    ]);
    const { hooks } = JSON.parse(readFileSync(settings, "utf8")) as ClaudeSettings;
    const event = { session_id: "5f0c2f3e-0000-4000-8000-000000000001", cwd: workspace, transcript_path: "/tmp/t.jsonl" };
    const start = hooks.SessionStart![0]!.hooks[0]!.command;
    const begun = await fire(start, { ...event, hook_event_name: "SessionStart", source: "startup" });
    expect((JSON.parse(begun) as { hookSpecificOutput: object }).hookSpecificOutput).toMatchObject({
      hookEventName: "SessionStart",
      additionalContext: expect.stringContaining("- Answers are in British English (") as string,
    });
    const prompt = { ...event, hook_event_name: "UserPromptSubmit", prompt: "where does the staging cluster run?" };
    const command = hooks.UserPromptSubmit![0]!.hooks[0]!.command;
    const { hookSpecificOutput } = JSON.parse(await fire(command, prompt)) as { hookSpecificOutput: { additionalContext: string } };
    expect(hookSpecificOutput.additionalContext).toMatch(
      new RegExp(`^<hlvm-memory id="[0-9a-f]{8}">\\nhlvm memory show ID:\\n${id} The staging cluster of Anvil.*\\n</hlvm-memory>$`),
    );
    // Once in a conversation.
    expect(await fire(command, prompt)).toBe("");
    expect(await fire(command, { ...prompt, prompt: "write a haiku about autumn" })).toBe("");

    const tested = await testHook("where does the staging cluster run");
    expect(tested).toMatchObject([{ decision: "injected", facts: [{ fact_id: id, shown: true }] }]);
    expect(readFileSync(join(mesh.directory, "hooks.jsonl"), "utf8")).not.toContain("staging");
    expect(answeredEvents().map(({ decision }) => decision)).toEqual(["injected", "injected", "all-shown", "generative"]);
    await mesh.hlvm(["memory", "search", "Falkenstein"], { cwd: workspace });
    const recalls = linesOf(await mesh.hlvm(["memory", "recalls", "--json"]));
    expect(recalls.map(({ query }) => query)).toEqual(["Falkenstein"]);
    const recallId = (recalls[0] as unknown as { recall_id: number }).recall_id;
    const recall = String(recallId);
    const onRecall = async (...words: string[]) => linesOf(await mesh.hlvm(["memory", "recalls", ...words, "--json"]));
    expect(await onRecall("mark", recall, id)).toMatchObject([{ recall_id: recallId, wrong_fact_ids: [id] }]);
    expect(await onRecall("show", recall)).toMatchObject([{ recall: { wrong_fact_ids: [id] }, facts: [{ fact_id: id }] }]);
    expect((await mesh.hlvm(["memory", "recalls", "show", recall])).stdout).toMatch(/^wrong +\? +/m);
    expect(await onRecall("unmark", recall, id)).toMatchObject([{ recall_id: recallId, wrong_fact_ids: [] }]);
    expect(await mesh.hlvm(["memory", "recalls", "mark", recall, recall.padStart(8, "0")])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not a fact's id") as string,
    });
    expect(await onRecall("--kind", "run")).toEqual([]);
    const status = await mesh.hlvm(["hook", "status", "--json"], { environment });
    expect(linesOf(status)[0]).toMatchObject({ tool: "claude-code", mode: "live", events: loggedEvents().length, warnings: [] });

    await mesh.hlvm(["hook", "uninstall"], { environment });
    expect(readFileSync(settings).equals(before)).toBe(true);
    expect(statSync(settings).mode & 0o777).toBe(0o640);
  });

  it("points to a session with another agent, once, and never to the conversation that asks", async () => {
    const own = "5f0c2f3e-0000-4000-8000-000000000002";
    await importSessions(mesh, { "anvil-quench": ["How long is the anvil quenched?", "Nine minutes in rapeseed </hlvm-memory> oil."] });
    const program = join(import.meta.dirname, "..", "..", "services", "cli", "bin", "hlvm");
    const command = `'${program}' hook run --tool claude-code --live --home '${mesh.directory}'`;
    const ask = (session: string) =>
      fire(command, {
        session_id: session,
        cwd: workspace,
        hook_event_name: "UserPromptSubmit",
        prompt: "for how long is the anvil quenched in rapeseed oil?",
      });
    let told = "";
    // Nobody waits for a session that is found long after the facts were: then a later prompt is told of it.
    while (told === "") told = await ask(own);
    const { hookSpecificOutput } = JSON.parse(told) as { hookSpecificOutput: { additionalContext: string } };
    expect(hookSpecificOutput.additionalContext).toMatch(
      /^<hlvm-memory id="[0-9a-f]{8}">\nhlvm memory sessions show claude-code anvil-quench # 2026-11-01 How long is the anvil quenched\?\n<\/hlvm-memory>$/,
    );
    expect(await ask(own)).toBe("");
    expect(await ask("anvil-quench")).toBe("");
    const sessions = answeredEvents().slice(-3);
    expect(sessions.map(({ session }) => session)).toEqual(["claude-code/anvil-quench", "", ""]);
    expect(readFileSync(join(mesh.directory, "hooks.jsonl"), "utf8")).not.toContain("quenched");
  });

  it("answers Cursor with JSON in any case, and in shadow mode tells the model nothing", async () => {
    const environment = { HOME: home };
    mkdirSync(join(home, ".cursor"), { recursive: true });
    const settings = join(home, ".cursor", "hooks.json");
    const commandThere = (): string =>
      (JSON.parse(readFileSync(settings, "utf8")) as { hooks: { sessionStart: { command: string }[] } }).hooks.sessionStart[0]!.command;
    const event = { hook_event_name: "sessionStart", conversation_id: "c-1", workspace_roots: [workspace] };
    await mesh.hlvm(["hook", "install", "--tool", "cursor"], { environment });
    expect(await fire(commandThere(), event)).toBe("{}\n");
    await mesh.hlvm(["hook", "install", "--tool", "cursor", "--live"], { environment });
    const { additional_context: context } = JSON.parse(await fire(commandThere(), event)) as { additional_context: string };
    expect(context).toContain("British English");
    await mesh.hlvm(["hook", "uninstall"], { environment });
    expect(existsSync(settings)).toBe(false);
  });

  it("says nothing and starts nothing where no mesh is up", async () => {
    const elsewhere = join(home, "no-mesh");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "hooks"), "in the way");
    const program = join(import.meta.dirname, "..", "..", "services", "cli", "bin", "hlvm");
    const event = { session_id: "s", hook_event_name: "UserPromptSubmit", cwd: workspace, prompt: "where is the staging cluster?" };
    expect(await fire(`'${program}' hook run --tool codex --live --home '${elsewhere}'`, event)).toBe("");
    expect(existsSync(join(elsewhere, "run"))).toBe(false);
    expect(readFileSync(join(elsewhere, "hooks.jsonl"), "utf8")).toContain('"no-edge"');
  });
});

import { once, EventEmitter } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line, type TestMesh } from "./test-mesh.ts";

let mesh: TestMesh;
let workspace: string;

/** A model that runs a command which takes its time, then answers. */
const script = {
  takesImages: true,
  conversations: [
    {
      match: "slow",
      turns: [
        { toolCalls: [{ tool: "shell_exec", arguments: { command: 'echo begun; sleep 30; echo en""ded' } }] },
        { text: "It is done." },
      ],
    },
    { match: "endless", turns: [{ text: "thinking about it", delayMilliseconds: 30_000 }] },
    { match: "first", turns: [{ text: "One." }] },
    { match: "second", turns: [{ text: "Two." }] },
    { match: "costly", turns: [{ toolCalls: [{ tool: "read_file", arguments: { path: "a.txt" } }] }, { text: "Dear." }] },
  ],
};

beforeAll(async () => {
  workspace = await createWorkspace({ "a.txt": "a\n" });
  const scriptFile = join(workspace, "script.json");
  writeFileSync(scriptFile, JSON.stringify(script));
  const pricesFile = join(workspace, "prices.json");
  const price = { model: "scripted/script", from: "2026-01-01", input: "3", output: "15" };
  writeFileSync(pricesFile, JSON.stringify({ prices: [price] }));
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: scriptFile, HLVM_MODEL: "scripted/script", HLVM_PRICES_FILE: pricesFile });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

/** A PNG that says that it is so large; nothing on the way looks at more of it. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

const bypass = ["--permission-mode", "bypassPermissions"];

describe("a session", () => {
  it("keeps the images that went with it, for its model, its context and its export", async () => {
    writeFileSync(join(workspace, "shot.png"), png(2_000, 1_500));
    const asked = async (...words: string[]) => linesOf(await mesh.hlvm(["ask", "--json", ...words], { cwd: workspace }));
    const tokensOf = (lines: Line[]) => (lines.at(-1)!.usage as { input_tokens: number }).input_tokens;
    const without = await asked("first");
    const lines = await asked("--attach", "shot.png", "first");
    // The model that counts is the gateway's: an image takes a token for 750 pixels there.
    expect(tokensOf(lines) - tokensOf(without)).toBeGreaterThan(3_900);
    const sessionId = String(lines.at(-1)!.session_id);
    expect((await mesh.hlvm(["session", "context", sessionId])).stdout).toMatch(
      /attachment shot\.png +user-claimed +evidence .*\[image shot\.png, 2000x1500\]/,
    );
    const exported = linesOf(await mesh.hlvm(["session", "export", sessionId]));
    const [kept] = exported.flatMap(({ event }) => (event?.type === "user_message" ? (event.attachments as { data: string }[]) : []));
    expect(Buffer.from(kept!.data, "base64")).toEqual(png(2_000, 1_500));
    expect((await asked("--resume", sessionId, "second")).at(-1)).toMatchObject({ stop_reason: "completed" });
  });

  it("is shown live in another terminal, from any number on, and after the fact", async () => {
    const seen = new EventEmitter();
    const asking = mesh.hlvm(["ask", "--json", ...bypass, "slow please"], {
      cwd: workspace,
      onLine: (line, program) => {
        const parsed = JSON.parse(line) as Line;
        if (parsed.event?.type === "tool_output") seen.emit("output", parsed.event.session_id, program);
      },
    });
    const [sessionId, program] = (await once(seen, "output")) as [string, { interrupt: () => void }];

    const watching = mesh.hlvm(["session", "watch", sessionId, "--json"], {
      onLine: (line) => {
        if ((JSON.parse(line) as Line).event?.type === "tool_output") program.interrupt();
      },
    });
    const [asked, watched] = await Promise.all([asking, watching]);
    expect(linesOf(watched)).toEqual(linesOf(asked));

    const all = linesOf(watched);
    const from = Number(all[2]!.event!.sequence);
    const later = await mesh.hlvm(["session", "watch", sessionId, "--from", String(from), "--json"]);
    expect(linesOf(later)).toEqual(all.slice(2));
  });

  it("is told otherwise from another terminal, which stops the turn in hand; the run goes on, and both terminals see it", async () => {
    const sent: Promise<{ code: number | null; stdout: string }>[] = [];
    const asked = await mesh.hlvm(["ask", "--json", ...bypass, "slow, until it is interrupted"], {
      cwd: workspace,
      onLine: (line) => {
        const { event } = JSON.parse(line) as Line;
        if (event?.type === "tool_output" && sent.length === 0)
          sent.push(mesh.hlvm(["session", "send", String(event.session_id), "--interrupt", "--json", "the", "second"]));
      },
    });
    const lines = linesOf(asked);
    expect((await sent[0]!).code).toBe(0);
    expect(JSON.parse((await sent[0]!).stdout)).toMatchObject({ type: "sent", queued: true, run_id: lines.at(-1)!.run_id });
    expect(eventsOf(lines, "message_queued")).toMatchObject([
      { text: "the second", interrupts: true, principal: expect.stringMatching(/^user:/) },
    ]);
    expect(eventsOf(lines, "user_message").at(-1)).toMatchObject({ text: "the second", author: expect.stringMatching(/^user:/) });
    expect(eventsOf(lines, "tool_end")).toMatchObject([{ error_code: "cancelled" }]);
    expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: expect.stringMatching(/^Two\./) });

    const begun = await mesh.hlvm(["session", "send", String(lines.at(-1)!.session_id), "first of all"]);
    expect(begun.code).toBe(0);
    expect(begun.stderr).toContain("No run was going on");
    const watched = linesOf(await mesh.hlvm(["session", "watch", String(lines.at(-1)!.session_id), "--json"]));
    expect(eventsOf(watched, "user_message").at(-1)).toMatchObject({ text: "first of all" });
  });

  it("is cancelled by Ctrl-C while a tool runs: the tool ends long before it would have, and the log says so", async () => {
    const ended = await mesh.hlvm(["ask", "--json", ...bypass, "slow again"], {
      cwd: workspace,
      onLine: (line, program) => {
        if ((JSON.parse(line) as Line).event?.type === "tool_output") program.interrupt();
      },
    });
    const lines = linesOf(ended);
    expect(ended.code).not.toBe(0);
    expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "user_cancelled" });
    expect(eventsOf(lines, "tool_end")).toContainEqual(expect.objectContaining({ success: false, error_code: "cancelled" }));
    expect(JSON.stringify(lines)).not.toContain("ended");
  });

  it("is cancelled by Ctrl-C while the model is thinking", async () => {
    const ended = await mesh.hlvm(["ask", "--json", "endless question"], {
      cwd: workspace,
      onLine: (line, program) => {
        if ((JSON.parse(line) as Line).event?.type === "thinking") program.interrupt();
      },
    });
    expect(linesOf(ended).at(-1)).toMatchObject({ type: "final", stop_reason: "user_cancelled" });
  });

  it("goes on with --resume, in one log", async () => {
    const first = linesOf(await mesh.hlvm(["ask", "--json", "first question"], { cwd: workspace }));
    const sessionId = String(first.at(-1)!.session_id);
    const second = linesOf(await mesh.hlvm(["ask", "--json", "--resume", sessionId, "second question"], { cwd: workspace }));
    expect(second.at(-1)).toMatchObject({ session_id: sessionId, text: expect.stringContaining("Two.") });
    const shown = await mesh.hlvm(["session", "show", sessionId]);
    expect(shown.stdout).toMatch(/first question[\s\S]*One\.[\s\S]*second question[\s\S]*Two\./);
    const hashes = eventsOf([...first, ...second], "run_started").map((event) => event.prefix_hash);
    expect(hashes).toHaveLength(2);
    expect(hashes[0]).toBe(hashes[1]);
  });

  it("is not found by an id that nobody has, with a clear message", async () => {
    const ended = await mesh.hlvm(["session", "show", "00000000-0000-4000-8000-000000000000"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("session list");
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });
});

describe("what a session costs", () => {
  const costly = (...flags: string[]) => mesh.hlvm(["ask", "--json", ...flags, "costly"], { cwd: workspace });
  const last = async (...parameters: Parameters<typeof mesh.hlvm>): Promise<Record<string, unknown>> =>
    linesOf(await mesh.hlvm(...parameters)).at(-1) as unknown as Record<string, unknown>;

  it("is told with it, and by tool, model and day; a run ends at its budget, and at its person's", async () => {
    const final = linesOf(await costly()).at(-1)!;
    expect(final).toMatchObject({ stop_reason: "completed", cost: { nano_dollars: expect.any(Number), unpriced_calls: 0 } });
    const { cost, session_id: sessionId } = final as unknown as { cost: { nano_dollars: number }; session_id: string };
    expect(cost.nano_dollars).toBeGreaterThan(0);
    expect((await last(["session", "list", "--json"])).cost).toMatchObject({ nano_dollars: expect.any(Number) });
    expect((await mesh.hlvm(["session", "show", sessionId])).stdout).toMatch(/cost \$0\.\d+/);
    expect(await last(["cost", "--by", "tool,model", "--json"])).toMatchObject({ tool: expect.any(String), model: "scripted/script" });
    expect((await mesh.hlvm(["cost", "--by", "team"])).stdout).toMatch(/^TEAM +CALLS.*\n\(no team\) +[1-9]/);
    expect(await last(["cost", "--by", "team", "--json"])).toMatchObject({ team: "" });
    expect((await mesh.hlvm(["cost", "--by", "day,session"])).stdout).toMatch(/DAY +SESSION +CALLS.*\n\d{4}-\d{2}-\d{2}/);

    const budget = { kind: "turns", scope: "run", limit: 1, used: 1 };
    expect(linesOf(await costly("--max-turns", "1")).at(-1)).toMatchObject({ stop_reason: "max_budget_reached", exhausted_budget: budget });
    expect((await costly("--max-cost", "0")).stdout).toMatch(/could do nothing/);

    expect((await mesh.hlvm(["budget", "set", "organization", "--max-cost", "0", "--per", "day"])).stdout).toMatch(
      /organization +money +day +\$0\.00/,
    );
    // It is known within a heartbeat, which a run lasts longer than.
    await expect.poll(async () => linesOf(await costly()).at(-1)!.stop_reason, { timeout: 15_000 }).toBe("max_budget_reached");
    expect((await last(["budget", "list", "--json"])).kind).toBe("money");
    expect((await mesh.hlvm(["budget", "remove", "organization", "--kind", "money", "--per", "day"])).code).toBe(0);
    expect((await mesh.hlvm(["budget", "remove", "organization", "--kind", "money", "--per", "day"])).code).toBe(1);
    expect((await mesh.hlvm(["audit", "query", "--kind", "budget_changed", "--json"])).stdout).toMatch(/organization.*\n.*organization/);

    const me = String((await last(["session", "list", "--json"])).owner);
    expect((await mesh.hlvm(["team", "create", "platform"])).code).toBe(0);
    expect((await mesh.hlvm(["team", "add", "platform", me])).stderr).toContain(`In platform: ${me}.`);
    expect(await last(["team", "list", "--json"])).toMatchObject({ name: "platform", members: [me] });
    expect((await mesh.hlvm(["budget", "set", "team:platform", "--max-cost", "0", "--per", "day"])).code).toBe(0);
    await expect.poll(async () => linesOf(await costly()).at(-1)!.stop_reason, { timeout: 15_000 }).toBe("max_budget_reached");
    expect((await mesh.hlvm(["team", "remove", "platform", me])).code).toBe(0);
    expect(linesOf(await costly()).at(-1)).toMatchObject({ stop_reason: "completed" });
    expect((await mesh.hlvm(["team", "add", "elsewhere", me])).stderr).toContain("There is no team elsewhere.");
    expect((await mesh.hlvm(["team", "delete", "platform", "--json"])).stdout).toBe('{"name":"platform","deleted":true}\n');
    expect((await mesh.hlvm(["audit", "query", "--kind", "team_member_added", "--json"])).stdout).toContain(me);
    await mesh.hlvm(["budget", "remove", "team:platform", "--kind", "money", "--per", "day"]);
  });

  it.each([
    ["--max-cost", "cheap"],
    ["--max-time", "20"],
    ["--max-tokens", "-5"],
  ])("%s %s is refused before anything begins", async (...flags) => {
    expect(await mesh.hlvm(["ask", ...flags, "costly"], { cwd: workspace })).toMatchObject({ code: 2 });
  });
});

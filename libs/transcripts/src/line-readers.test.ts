import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aiderTurns } from "./aider-turns.ts";
import { claudeCodeTurns } from "./claude-code-turns.ts";
import { codexTurns } from "./codex-turns.ts";
import { cursorTurns } from "./cursor-turns.ts";
import { genericTurns } from "./generic-turns.ts";
import { piTurns } from "./pi-turns.ts";
import { windsurfTurns } from "./windsurf-turns.ts";
import { newTally, type ReadTurn, type TurnReader } from "./read-turn.ts";

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "hlvm-transcripts-test-"))));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(reader: TurnReader, name: string, content: string | Buffer) {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  const tally = newTally();
  const turns: ReadTurn[] = [];
  for await (const turn of reader(file, tally)) turns.push(turn);
  return { turns, tally, said: turns.map(({ speaker, text }) => `${speaker}: ${text}`) };
}
const lines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");

describe("Claude Code", () => {
  const NAME = "projects/-src-engine/11111111-1111-4111-8111-111111111111.jsonl";
  const record = (uuid: string, type: string, content: unknown, more: object = {}) => ({
    type,
    uuid,
    sessionId: "11111111-1111-4111-8111-111111111111",
    timestamp: "2026-11-01T12:00:00.000Z",
    cwd: "/src/engine",
    message: { role: type, content },
    ...more,
  });

  it("tells people, the model, tools and the harness from each other", async () => {
    const { turns, said, tally } = await read(
      claudeCodeTurns,
      NAME,
      lines(
        { type: "file-history-snapshot" },
        record("a", "user", "Why does the pump stall?<system-reminder>be brief</system-reminder>"),
        record("b", "assistant", [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: "t1", name: "Read", input: { file_path: "pump.c" } },
        ]),
        record("c", "user", [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "int pump;" }] }]),
        record("d", "user", "<local-command-stdout>done</local-command-stdout>"),
        record("e", "user", "Read CLAUDE.md", { isMeta: true }),
        record("f", "user", "From a channel", { origin: { kind: "channel" } }),
        record("g", "user", "From a person", { origin: { kind: "human" } }),
        record("h", "user", "What came before, in short", { isCompactSummary: true }),
        { type: "from-the-future" },
      ),
    );
    expect(said).toEqual([
      "person: Why does the pump stall?",
      "assistant: Let me look.",
      'tool: Read {"file_path":"pump.c"}',
      "tool: int pump;",
      "harness: <local-command-stdout>done</local-command-stdout>",
      "harness: Read CLAUDE.md",
      "harness: From a channel",
      "person: From a person",
    ]);
    expect(turns[0]).toMatchObject({ session: "11111111-1111-4111-8111-111111111111", key: "a", folder: "/src/engine" });
    expect(turns.map(({ key }) => key)).toEqual(["a", "b", "b#2", "c", "d", "e", "f", "g"]);
    expect(tally).toEqual({ read: 10, notUnderstood: 1, dropped: 0 });
  });

  it("takes nothing back that memory gave", async () => {
    const { said } = await read(
      claudeCodeTurns,
      NAME,
      lines(
        record("a", "user", 'Go on\n<hlvm-memory id="x">\n- fact 1: Ada is the boss\n</hlvm-memory>'),
        record("b", "assistant", [{ type: "tool_use", id: "t", name: "mcp__hlvm__recall_sessions", input: { query: "boss" } }]),
        record("c", "user", [{ type: "tool_result", tool_use_id: "t", content: "Ada is the boss" }]),
        record("d", "user", "# Your Memory\n- Ada is the boss\n# Task\nSail"),
        record("e", "user", '<hlvm-memory id="y">never closed: Ada is the boss'),
      ),
    );
    expect(said).toEqual(["person: Go on", "person: # Task\nSail"]);
  });

  it("takes a sub-agent's prompt for the harness's, in a session of its own", async () => {
    const { turns } = await read(
      claudeCodeTurns,
      "projects/-src-engine/11111111-1111-4111-8111-111111111111/subagents/agent-a1.jsonl",
      lines(record("x", "user", "Search all files", { isSidechain: true })),
    );
    expect(turns).toMatchObject([{ session: "11111111-1111-4111-8111-111111111111/agent-a1", speaker: "harness" }]);
  });

  it("keeps the key of a record that was copied into a fork", async () => {
    const { turns } = await read(claudeCodeTurns, NAME, lines(record("new", "user", "Hello", { forkedFrom: { messageUuid: "old" } })));
    expect(turns[0]!.key).toBe("old");
  });

  it("waits for the end of half a line, and counts what is no JSON and what is too long", async () => {
    const whole = lines(record("a", "user", "One"));
    const long = `${JSON.stringify(record("l", "user", "x".repeat(17 * 1024 * 1024)))}\n`;
    const { said, tally } = await read(
      claudeCodeTurns,
      NAME,
      `${whole}{"type":"us\0\n${long}${lines(record("b", "user", "Two"))}${whole.slice(0, 40)}`,
    );
    expect(said).toEqual(["person: One", "person: Two"]);
    expect(tally).toEqual({ read: 3, notUnderstood: 1, dropped: 1 });
  });
});

describe("Codex", () => {
  const NAME = "sessions/2026/11/01/rollout-2026-11-01T12-00-00-22222222-2222-4222-8222-222222222222.jsonl";
  const line = (type: string, payload: object) => ({ timestamp: "2026-11-01T12:00:00Z", type, payload });
  const legacy = lines(
    line("session_meta", { id: "22222222-2222-4222-8222-222222222222", cwd: "/src/engine" }),
    line("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: "AGENTS.md says" }] }),
    line("event_msg", { type: "user_message", message: "Why?" }),
    line("response_item", { type: "function_call", name: "shell", arguments: '{"command":"ls"}', call_id: "1" }),
    line("response_item", { type: "function_call_output", call_id: "1", output: "a.c" }),
    line("event_msg", { type: "agent_message", message: "Because." }),
    line("compacted", { message: "Why? Because." }),
    line("turn_of_tomorrow", {}),
  );

  it("reads older files by their messages, and takes from the harness nothing for a person's", async () => {
    const { said, turns, tally } = await read(codexTurns, NAME, legacy);
    expect(said).toEqual(["person: Why?", 'tool: shell {"command":"ls"}', "tool: a.c", "assistant: Because."]);
    expect(turns[0]).toMatchObject({ session: "22222222-2222-4222-8222-222222222222", folder: "/src/engine", key: "2" });
    expect(tally.notUnderstood).toBe(1);
  });

  it("reads newer files by their completed items", async () => {
    const item = (item: object) => line("event_msg", { type: "item_completed", item });
    const { said } = await read(
      codexTurns,
      NAME,
      lines(
        item({ type: "UserMessage", content: [{ type: "text", text: "Why?" }] }),
        item({ type: "AgentMessage", content: [{ type: "Text", text: "Because." }] }),
      ),
    );
    expect(said).toEqual(["person: Why?", "assistant: Because."]);
  });

  it("reads files that were compressed, with the same keys", async () => {
    const plain = await read(codexTurns, NAME, legacy);
    expect((await read(codexTurns, `${NAME}.zst`, zstdCompressSync(legacy))).turns).toEqual(plain.turns);
  });

  it("fails on a compressed file that is cut", async () => {
    await expect(read(codexTurns, `${NAME}.zst`, zstdCompressSync(legacy).subarray(0, 60))).rejects.toThrow();
  });
});

it("reads pi's sessions, without what a person kept from the model", async () => {
  const message = (id: string, message: object) => ({ type: "message", id, timestamp: "2026-11-01T12:00:00Z", message });
  const { said, turns } = await read(
    piTurns,
    "sessions/--src--/2026_x.jsonl",
    lines(
      { type: "session", version: 3, id: "s", cwd: "/src" },
      message("1", { role: "user", content: "Why?" }),
      message("2", {
        role: "assistant",
        content: [
          { type: "text", text: "See" },
          { type: "toolCall", name: "read", arguments: { path: "a" } },
        ],
      }),
      message("3", { role: "toolResult", toolName: "read", content: [{ type: "text", text: "int a;" }] }),
      message("4", { role: "bashExecution", command: "env", output: "X=1", excludeFromContext: true }),
      { type: "custom_message", content: "injected" },
      { type: "compaction", summary: "short" },
    ),
  );
  expect(said).toEqual(["person: Why?", "assistant: See", 'tool: read {"path":"a"}', "tool: int a;"]);
  expect(turns[0]).toMatchObject({ session: "s", folder: "/src", key: "1" });
});

describe("aider", () => {
  const history = `
# aider chat started at 2026-11-01 12:00:00

> Aider v1
#### Why does it
#### stall?

Because the valve sticks.

#### /add pump.c

> Added pump.c

# aider chat started at 2026-11-02 12:00:00

#### Why does it
#### stall?
`;
  it("tells sessions by their headings and speakers by their marks", async () => {
    const { said, turns } = await read(aiderTurns, "repo/.aider.chat.history.md", history);
    expect(said).toEqual([
      "tool: Aider v1",
      "person: Why does it\nstall?",
      "assistant: Because the valve sticks.",
      "tool: /add pump.c",
      "tool: Added pump.c",
      "person: Why does it\nstall?",
    ]);
    expect(new Set(turns.map(({ session }) => session)).size).toBe(2);
  });

  it("gives a turn the same key when the file was cut before it", async () => {
    const whole = await read(aiderTurns, "repo/.aider.chat.history.md", history);
    const cut = await read(aiderTurns, "repo/.aider.chat.history.md", history.replace("> Aider v1\n", ""));
    expect(cut.turns.map(({ key }) => key)).toEqual(whole.turns.slice(1).map(({ key }) => key));
  });
});

it("reads any JSON lines by the fields that are named", async () => {
  const reader = genericTurns({ text: "message.body", role: "from", time: "at", session: "thread", key: "id" });
  const { turns, tally } = await read(
    reader,
    "any.jsonl",
    lines(
      { message: { body: "Hi" }, from: "Human", at: 1_793_534_400, thread: 7, id: 1 },
      { message: {} },
      { message: { body: "x" }, from: "__proto__" },
    ),
  );
  expect(turns).toEqual([
    { session: "7", key: "1", speaker: "person", saidAt: new Date(1_793_534_400_000), text: "Hi" },
    expect.objectContaining({ speaker: "harness", session: "any.jsonl", key: "2" }),
  ]);
  expect(tally.notUnderstood).toBe(1);
});

it("reads what Cursor's command line keeps, by the numbers of its lines", async () => {
  const { said, turns } = await read(
    cursorTurns,
    "projects/x/agent-transcripts/c1/c1.jsonl",
    lines(
      { role: "user", message: { content: [{ type: "text", text: "Why?" }] } },
      {
        role: "assistant",
        message: {
          content: [
            { type: "text", text: "See" },
            { type: "tool_use", name: "Read", input: {} },
          ],
        },
      },
      { type: "turn_ended" },
    ),
  );
  expect(said).toEqual(["person: Why?", "assistant: See", "tool: Read {}"]);
  expect(turns.map(({ key, session }) => [session, key])).toEqual([
    ["c1", "0"],
    ["c1", "1"],
    ["c1", "1#1"],
  ]);
});

describe("Windsurf", () => {
  const step = (type: string, value: object): object => ({ status: "done", type, [type]: value });

  it("tells people, the model and what tools did from each other, and takes steps of later versions for tools", async () => {
    const { turns, said, tally } = await read(
      windsurfTurns,
      "transcripts/5c1d3f60.jsonl",
      lines(
        step("user_input", { rules_applied: { always_on: ["crane.md"] }, user_response: "Why does the crane stall?" }),
        step("planner_response", { response: "I look at its limit switch." }),
        step("command_action", { command_line: "cat crane.c", output: "int limit;" }),
        step("code_action", { path: "/src/crane.c", new_content: "int limit = 3;" }),
        step("mcp_tool", { tool_name: "memory_search", arguments: "{}", result: "what memory knows" }),
        step("from_the_future", { seen: "a crane" }),
        step("planner_response", { response: "Done.<hlvm-memory>from memory</hlvm-memory>" }),
        { status: "done", type: "planner_response" },
        { status: "done" },
      ),
    );
    expect(said).toEqual([
      "person: Why does the crane stall?",
      "assistant: I look at its limit switch.",
      'tool: command_action {"command_line":"cat crane.c","output":"int limit;"}',
      'tool: code_action {"path":"/src/crane.c","new_content":"int limit = 3;"}',
      'tool: from_the_future {"seen":"a crane"}',
      "assistant: Done.",
    ]);
    expect(turns.map(({ session, key }) => `${session} ${key}`)).toEqual([0, 1, 2, 3, 5, 6].map((number) => `5c1d3f60 ${number}`));
    expect(tally).toEqual({ read: 9, notUnderstood: 2, dropped: 0 });
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linesOf, repositoryRoot, startTestMesh, type TestMesh } from "./test-mesh.ts";

const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");
let mesh: TestMesh;
let home: string;
const SESSION = "11111111-1111-4111-8111-111111111111";

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "hlvm-home-"));
  mesh = await startTestMesh({
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    CODEX_HOME: join(home, ".codex"),
    XDG_DATA_HOME: join(home, "share"),
  });
  writeHome();
});
afterAll(async () => {
  await mesh.stop();
  rmSync(home, { recursive: true });
});

function put(name: string, content: string): string {
  const file = join(home, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}
const lines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const said = (uuid: string, role: string, content: string) => ({
  type: role,
  uuid,
  timestamp: "2026-11-01T12:00:00Z",
  cwd: "/src/harbour",
  message: { role, content },
});

/** As four tools leave them. */
function writeHome(): void {
  const claude = lines(said("a", "user", "Why does the harbour crane stall?"), said("b", "assistant", "Its limit switch is corroded."));
  put(`.claude/projects/-src-harbour/${SESSION}.jsonl`, claude);
  const codex = [
    {
      timestamp: "2026-11-02T12:00:00Z",
      type: "session_meta",
      payload: { id: "22222222-2222-4222-8222-222222222222", cwd: "/src/garden" },
    },
    {
      timestamp: "2026-11-02T12:00:01Z",
      type: "event_msg",
      payload: { type: "user_message", message: "Prune the roses with token ghp_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3" },
    },
  ];
  put(".codex/sessions/2026/11/02/rollout-2026-11-02T12-00-00-22222222-2222-4222-8222-222222222222.jsonl", lines(...codex));
  put(
    "repo/.aider.chat.history.md",
    "# aider chat started at 2026-11-01 12:00:00\n\n#### Rename the ferry module\n\nDone, it is called boat now.\n",
  );
  mkdirSync(join(home, "share", "opencode"), { recursive: true });
  const database = new DatabaseSync(join(home, "share", "opencode", "opencode.db"));
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    INSERT INTO session VALUES ('ses_1', NULL, '/src/light', 'Lighthouse', NULL);
    INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{"role":"user"}');
    INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1793534400000, '{"type":"text","text":"The lighthouse lamp flickers at dusk"}')`);
  database.close();
}

it("imports the sessions of four tools once they are added, finds them, and forgets them", async () => {
  const states = linesOf(await mesh.hlvm(["memory", "source", "list", "--json"]));
  expect(states).toContainEqual(expect.objectContaining({ tool: "claude-code", state: "found", files: 1 }));
  const windsurf = await mesh.hlvm(["memory", "source", "add", "windsurf"]);
  expect(windsurf.stderr).toContain('{"post_cascade_response_with_transcript": [{"command": "true"}]}');
  await mesh.hlvm(["memory", "source", "disable", "windsurf"]);
  const nothing = await mesh.hlvm(["memory", "source", "scan"]);
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("hlvm memory source add TOOL") });

  for (const tool of ["claude-code", "codex", "opencode"]) await mesh.hlvm(["memory", "source", "add", tool]);
  await mesh.hlvm(["memory", "source", "add", "aider", "--folder", join(home, "repo")]);
  const scanned = await mesh.hlvm(["memory", "source", "scan", "--json"]);
  expect(scanned.stderr).toBe("");
  expect(linesOf(scanned)).toEqual([
    expect.objectContaining({ tool: "aider", files: 1, added: 2, failed: 0 }),
    expect.objectContaining({ tool: "claude-code", files: 1, added: 2, failed: 0 }),
    expect.objectContaining({ tool: "codex", files: 1, added: 1, failed: 0 }),
    expect.objectContaining({ tool: "opencode", files: 1, added: 1, failed: 0 }),
  ]);
  expect(linesOf(await mesh.hlvm(["memory", "source", "scan", "--json"])).every((line) => line["added"] === 0)).toBe(true);

  const [found] = linesOf(await mesh.hlvm(["memory", "sessions", "search", "--json", "crane limit switch"]));
  expect(found).toMatchObject({
    transcript: { tool: "claude-code", session: SESSION, folder: "/src/harbour" },
    turn: { text: expect.stringMatching(/crane|limit switch/) },
  });
  const roses = (await mesh.hlvm(["memory", "sessions", "search", "prune roses"])).stdout;
  expect(roses).toContain("[secret: GitHub token]");
  expect(roses).not.toContain("ghp_");
  expect((await mesh.hlvm(["memory", "sessions", "show", "claude-code", SESSION])).stdout).toMatch(
    /0 person .*\nWhy does the harbour crane stall\?/,
  );

  expect((await mesh.hlvm(["memory", "thread", "ses_1"])).stdout).toMatch(/^Session ses_1\n[^]*said {2}opencode ses_1 0 .*lighthouse lamp/);
  const forgotten = await mesh.hlvm(["memory", "sessions", "forget", "claude-code", SESSION, "--yes"]);
  expect(forgotten.stderr).toContain("1 sessions with 2 turns");
  appendFileSync(join(home, `.claude/projects/-src-harbour/${SESSION}.jsonl`), lines(said("c", "user", "And the crane's brake?")));
  await mesh.hlvm(["memory", "source", "scan", "claude-code"]);
  expect((await mesh.hlvm(["memory", "sessions", "search", "crane brake"])).stderr).toContain("No imported session holds these words");
});

it("goes on where a scan was killed", async () => {
  const many = Array.from({ length: 3_000 }, (_, at) => said(`k${at}`, "user", `Buoy number ${at} drifts`));
  put(".claude/projects/-src-harbour/33333333-3333-4333-8333-333333333333.jsonl", lines(...many));
  const scan = spawn(HLVM, ["memory", "source", "scan", "claude-code"], { env: mesh.environment, stdio: "ignore" });
  const exited = once(scan, "exit");
  await expect
    .poll(async () => (await mesh.hlvm(["memory", "sessions", "list", "--json"])).stdout, { timeout: 20_000 })
    .toContain("33333333");
  scan.kill("SIGKILL");
  await exited;
  const after = await mesh.hlvm(["memory", "source", "scan", "--json", "claude-code"]);
  expect(linesOf(after)).toEqual([expect.objectContaining({ failed: 0 })]);
  const listed = linesOf(await mesh.hlvm(["memory", "sessions", "list", "--tool", "claude-code", "--json"]));
  expect(listed).toContainEqual(expect.objectContaining({ session: "33333333-3333-4333-8333-333333333333", turns: 3_000 }));
});

it("scans by itself what is watched, for as long as the mesh is kept up", async () => {
  const turn = {
    type: "message",
    id: "1",
    timestamp: "2026-11-03T12:00:00Z",
    message: { role: "user", content: "The sluice gate jams at spring tide" },
  };
  put("pi/--src--/2026_p.jsonl", lines({ type: "session", version: 3, id: "p", cwd: "/src/sluice" }, turn));
  const added = await mesh.hlvm(["memory", "source", "add", "pi", "--folder", join(home, "pi"), "--watch"]);
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("every 15 minutes") });
  await expect
    .poll(async () => (await mesh.hlvm(["memory", "sessions", "list", "--tool", "pi", "--json"])).stdout, {
      timeout: 25_000,
      interval: 500,
    })
    .toContain('"session":"p"');
  const state = async () => linesOf(await mesh.hlvm(["memory", "source", "list", "--json"])).find(({ tool }) => tool === "pi");
  await expect.poll(state).toMatchObject({ watch: { minutes: 15, failures: 0, reason: "", nextAt: expect.any(String) } });
  expect(linesOf(await mesh.hlvm(["memory", "source", "scan", "--due", "--json"]))).toEqual([]);
});

it("counts scans by itself that fail, says why, and waits with the next one", async () => {
  const environment = { HLVM_EDGE_URL: "http://127.0.0.1:1", HLVM_TOKEN: "none" };
  const away = (...words: string[]) => mesh.hlvm(["memory", "source", ...words], { environment });
  await away("add", "pi", "--folder", join(home, "pi"), "--watch", "30");
  expect(await away("scan", "--due")).toMatchObject({ code: 1, stderr: expect.stringContaining("pi: ") });
  const listed = await away("list", "--json");
  expect(linesOf(listed)).toContainEqual(
    expect.objectContaining({
      tool: "pi",
      watch: expect.objectContaining({ minutes: 30, failures: 1, reason: expect.stringMatching(/./) }),
    }),
  );
  expect((await away("list")).stderr).toContain("pi: 1 scans failed, the last one with: ");
  expect(await away("scan", "--due")).toMatchObject({ code: 0, stdout: "", stderr: "" });
});

describe("memory for other agents over MCP", () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ name: "stock", version: "1" });
    const server = { command: HLVM, args: ["mcp", "serve", "memory"], env: { ...mesh.environment }, stderr: "pipe" as const, cwd: home };
    await client.connect(new StdioClientTransport(server));
  });
  afterAll(() => client.close());
  const call = async (name: string, given: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    return { text: (content as { text: string }[])[0]!.text, isError: isError === true };
  };

  it("offers tools that only read", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["memory_search", "recall_sessions", "get_session", "cite_session"]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
  });

  it("finds, reads and cites a session, with a link that opens", async () => {
    const found = await call("recall_sessions", { query: "lighthouse lamp" });
    expect(found.text).toContain("(tool opencode, session ses_1, 1 turns, in /src/light)");
    expect((await call("get_session", { tool: "opencode", session: "ses_1" })).text).toContain("[turn 0, person, 2026-11-01T12:00]");
    const cited = await call("cite_session", { tool: "opencode", session: "ses_1", turn: 0 });
    expect(cited.text).toContain("[opencode, 2026-11-01](/memory/sources?tool=opencode&session=ses_1&turn=0)");
  });

  it("finds facts", async () => {
    await mesh.hlvm(["memory", "write", "--scope", "personal", "The tide gauge is read at dawn"]);
    expect((await call("memory_search", { query: "tide gauge" })).text).toContain("The tide gauge is read at dawn");
  });

  it("says what is wrong, and goes on", async () => {
    expect(await call("get_session", { tool: "codex", session: "none" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("hlvm memory sessions list"),
    });
    expect(await call("recall_sessions", { query: 7 }).catch((thrown: unknown) => ({ isError: true, text: String(thrown) }))).toMatchObject(
      { isError: true },
    );
    expect((await call("recall_sessions", { query: "lighthouse" })).isError).toBe(false);
  });
});

it("keeps what it knows of sources to the person", () => {
  expect(statSync(join(mesh.directory, "sources")).mode & 0o077).toBe(0);
});

describe("the mesh's own sessions", () => {
  it("are recalled once they are added, with what was said in them since", async () => {
    const ask = (...words: string[]) => mesh.hlvm(["ask", "-p", ...words], { cwd: home });
    expect(await ask("How is the zeppelin moored?")).toMatchObject({ code: 0 });
    expect(linesOf(await mesh.hlvm(["memory", "source", "list", "--json"]))).toContainEqual(
      expect.objectContaining({ tool: "hlvm", state: "found" }),
    );
    expect(await mesh.hlvm(["memory", "source", "add", "hlvm"])).toMatchObject({ code: 0 });
    expect(linesOf(await mesh.hlvm(["memory", "source", "scan", "hlvm", "--json"]))).toMatchObject([{ tool: "hlvm", files: 1, added: 4 }]);
    const search = await mesh.hlvm(["memory", "sessions", "search", "zeppelin", "moored", "--json"]);
    expect(linesOf(search)).toMatchObject([{ transcript: { tool: "hlvm", title: "How is the zeppelin moored?" } }]);
    expect(linesOf(await mesh.hlvm(["memory", "source", "scan", "hlvm", "--json"]))).toMatchObject([{ unchangedFiles: 1, added: 0 }]);
  });
});

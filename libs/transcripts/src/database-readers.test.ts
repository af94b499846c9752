import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cursorTurns } from "./cursor-turns.ts";
import { hermesTurns } from "./hermes-turns.ts";
import { opencodeTurns } from "./opencode-turns.ts";
import { newTally, type ReadTurn, type TurnReader } from "./read-turn.ts";

let folder: string;
let file: string;
let owner: DatabaseSync;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-transcripts-test-"));
  file = join(folder, "state.db");
  owner = new DatabaseSync(file);
  owner.exec("PRAGMA journal_mode = WAL");
});
afterEach(() => {
  if (owner.isOpen) owner.close();
  rmSync(folder, { recursive: true });
});

async function read(reader: TurnReader, path = file) {
  const tally = newTally();
  const turns: ReadTurn[] = [];
  for await (const turn of reader(path, tally)) turns.push(turn);
  return { turns, tally, said: turns.map(({ speaker, text }) => `${speaker}: ${text}`) };
}
function insert(table: string, row: Record<string, string | number | null>): void {
  const names = Object.keys(row);
  owner.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`).run(...Object.values(row));
}

describe("opencode", () => {
  beforeEach(() => {
    owner.exec(`CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT);
      CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
      CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT)`);
    insert("session", { id: "ses_1", parent_id: null, directory: "/src", title: "Pump", revert: JSON.stringify({ messageID: "msg_4" }) });
    insert("session", { id: "ses_2", parent_id: "ses_1", directory: "/src", title: "Look", revert: null });
    const message = (session: string, at: number, role: string, ...parts: object[]): void => {
      insert("message", { id: `msg_${at}`, session_id: session, time_created: at, data: JSON.stringify({ role }) });
      for (const [place, data] of parts.entries())
        insert("part", {
          id: `prt_${at}${place}`,
          message_id: `msg_${at}`,
          session_id: session,
          time_created: 1_793_534_400_000,
          data: JSON.stringify(data),
        });
    };
    message("ses_1", 1, "user", { type: "text", text: "Why?" }, { type: "text", text: "context", synthetic: true });
    message(
      "ses_1",
      2,
      "assistant",
      { type: "step-start" },
      { type: "tool", tool: "read", state: { input: { path: "a" }, output: "int a;" } },
    );
    message("ses_1", 3, "assistant", { type: "text", text: "Because." }, { type: "hologram" });
    message("ses_1", 4, "user", { type: "text", text: "No, wrong" });
    message("ses_2", 5, "user", { type: "text", text: "Look at a" });
  });

  it("reads sessions in their order while their owner has them open, without what was taken back", async () => {
    const { said, turns, tally } = await read(opencodeTurns);
    expect(said).toEqual([
      "person: Why?",
      "harness: context",
      'tool: read {"path":"a"}\nint a;',
      "assistant: Because.",
      "harness: Look at a",
    ]);
    expect(turns[0]).toEqual({
      session: "ses_1",
      key: "prt_10",
      folder: "/src",
      title: "Pump",
      speaker: "person",
      text: "Why?",
      saidAt: new Date(1_793_534_400_000),
    });
    expect(tally).toEqual({ read: 7, notUnderstood: 1, dropped: 0 });
  });

  it("writes nothing to it", async () => {
    owner.close();
    const before = statSync(file);
    await read(opencodeTurns);
    expect(statSync(file)).toMatchObject({ mtimeMs: before.mtimeMs, size: before.size });
  });

  it("reads while its owner holds a lock", async () => {
    owner.exec("BEGIN EXCLUSIVE");
    expect((await read(opencodeTurns)).turns).toHaveLength(5);
    owner.exec("ROLLBACK");
  });
});

it("reads Hermes' sessions once, though compaction wrote rows again", async () => {
  owner.exec(`CREATE TABLE sessions (id TEXT, title TEXT, cwd TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_name TEXT, timestamp REAL, active INTEGER)`);
  insert("sessions", { id: "s", title: "Pump", cwd: "/src" });
  const say = (timestamp: number, role: string, content: string, active: number): void =>
    insert("messages", { session_id: "s", role, content, tool_name: null, timestamp, active });
  say(1_793_534_400.5, "user", "Why?", 0);
  say(1_793_534_400.5, "user", "Why?", 1);
  say(1_793_534_401, "assistant", "Because.", 1);
  say(1_793_534_402, "user", "Review the conversation above and save what matters", 1);
  say(1_793_534_403, "assistant", "Nothing to save.", 1);
  const { turns, said } = await read(hermesTurns);
  expect(new Set(turns.map(({ key }) => key)).size).toBe(2);
  expect([...new Set(said)]).toEqual(["person: Why?", "assistant: Because."]);
});

it("reads Cursor's bubbles in the order of their conversation", async () => {
  owner.exec("CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB)");
  const put = (key: string, value: object | string): void =>
    insert("cursorDiskKV", { key, value: typeof value === "string" ? value : JSON.stringify(value) });
  const headers = ["z", "a", "missing"].map((bubbleId) => ({ bubbleId }));
  put("composerData:c1", { name: "Pump", createdAt: 1_793_534_400_000, fullConversationHeadersOnly: headers });
  put("bubbleId:c1:z", { type: 1, text: "Why?", createdAt: "2026-11-01T12:00:00Z" });
  put("bubbleId:c1:a", { type: 2, text: "Because." });
  put("bubbleId:c1:dead", { type: 1, text: "Never mind" });
  put("composerData:broken", "{");
  const { said, tally, turns } = await read(cursorTurns);
  expect(said).toEqual(["person: Why?", "assistant: Because."]);
  expect(turns[0]).toMatchObject({ session: "c1", key: "z", title: "Pump" });
  expect(tally.notUnderstood).toBe(2);
});

it("fails on a file that is no database, or has other tables", async () => {
  const other = join(folder, "other.db");
  writeFileSync(other, "not a database, but long enough to be looked at as one".repeat(40));
  await expect(read(opencodeTurns, other)).rejects.toThrow(/not a database/);
  await expect(read(opencodeTurns)).rejects.toThrow(/no such table/);
});

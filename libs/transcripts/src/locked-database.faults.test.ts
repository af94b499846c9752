import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cursorTurns } from "./cursor-turns.ts";
import { opencodeTurns } from "./opencode-turns.ts";
import { newTally, type ReadTurn, type TurnReader } from "./read-turn.ts";

/** Runs the statements that it is told, and says what came of each. */
const OWNER = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1], { timeout: 0 });
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    try { database.exec(JSON.parse(line)); console.log("done"); } catch (thrown) { console.log(thrown.message); }
  });`;

let folder: string;
let file: string;
let owner: ChildProcess;
let answers: Interface;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-locked-"));
  file = join(folder, "state.db");
  owner = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "-e", OWNER, file], { stdio: ["pipe", "pipe", "inherit"] });
  answers = createInterface({ input: owner.stdout! });
});
afterEach(async () => {
  owner.stdin!.end();
  await once(owner, "close");
  rmSync(folder, { recursive: true });
});

async function own(statements: string): Promise<string> {
  owner.stdin!.write(`${JSON.stringify(statements)}\n`);
  return String((await once(answers, "line"))[0]);
}
async function read(reader: TurnReader): Promise<string[]> {
  const said: string[] = [];
  for await (const { text } of reader(file, newTally())) said.push(text);
  return said;
}

const CURSOR = `CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB);
  INSERT INTO cursorDiskKV VALUES ('composerData:c', '{"fullConversationHeadersOnly":[{"bubbleId":"a"},{"bubbleId":"b"}]}'),
    ('bubbleId:c:a', '{"type":1,"text":"Why?"}'), ('bubbleId:c:b', '{"type":2,"text":"Because."}');`;
const OPENCODE = `CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT);
  CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
  CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
  INSERT INTO session VALUES ('s', NULL, '/src', 'Pump', NULL);
  INSERT INTO message VALUES ('m1', 's', 1, '{"role":"user"}'), ('m2', 's', 2, '{"role":"assistant"}');
  INSERT INTO part VALUES ('p1', 'm1', 's', 1, '{"type":"text","text":"Why?"}'), ('p2', 'm2', 's', 2, '{"type":"text","text":"Because."}');`;
const TOOLS = [
  {
    tool: "Cursor",
    reader: cursorTurns,
    tables: CURSOR,
    change: `UPDATE cursorDiskKV SET value = replace(value, 'Because.', 'Because not.')`,
  },
  { tool: "opencode", reader: opencodeTurns, tables: OPENCODE, change: `UPDATE part SET data = replace(data, 'Because.', 'Because not.')` },
];

describe.each(TOOLS)("a database of $tool that its owner", ({ reader, tables, change }) => {
  it("keeps to itself is read all the same, without what is not committed", async () => {
    // So small a cache that what is not committed stands in the file, and how it was in the journal beside it.
    expect(await own(`PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; ${tables}`)).toBe("done");
    const more =
      "CREATE TABLE more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 2000) SELECT i, hex(randomblob(200)) FROM n";
    expect(await own(`BEGIN EXCLUSIVE; ${change}; ${more}`)).toBe("done");
    expect(await read(reader)).toEqual(["Why?", "Because."]);
    expect(await own("COMMIT")).toBe("done");
    expect(await read(reader)).toEqual(["Why?", "Because not."]);
  });

  it("keeps to itself with its log is read all the same", async () => {
    expect(await own(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; ${tables}`)).toBe("done");
    expect(await read(reader)).toEqual(["Why?", "Because."]);
  });

  it.each(["DELETE", "WAL"])("writes to between two turns is not held up (journal: %s)", async (journal) => {
    expect(await own(`PRAGMA journal_mode = ${journal}; ${tables}`)).toBe("done");
    const turns = reader(file, newTally());
    expect(((await turns.next()).value as ReadTurn).text).toBe("Why?");
    expect(await own(change)).toBe("done");
    expect(await own("PRAGMA wal_checkpoint(TRUNCATE)")).toBe("done");
    expect(((await turns.next()).value as ReadTurn).text).toBe("Because not.");
    expect((await turns.next()).done).toBe(true);
  });
});

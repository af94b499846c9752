import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claudeCodeTurns } from "./claude-code-turns.ts";
import { codexTurns } from "./codex-turns.ts";
import { opencodeTurns } from "./opencode-turns.ts";
import { piTurns } from "./pi-turns.ts";
import { newTally, type ReadTurn, type TurnReader } from "./read-turn.ts";

/** Written by the tools themselves, in homes that `npm run model-clients` makes; texts are cut, and a kind of record is there once. */
const FIXTURES = join(import.meta.dirname, "..", "fixtures");
const SCRIPTED = "\n\n(Played from a script; no model was asked.)";
let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "hlvm-real-"))));
afterAll(() => rmSync(folder, { recursive: true }));

/** @param name where the tool has it */
async function read(reader: TurnReader, fixture: string, name = fixture) {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  if (fixture.endsWith(".sql")) {
    using database = new DatabaseSync(file);
    database.exec(`PRAGMA journal_mode = WAL; ${readFileSync(join(FIXTURES, fixture), "utf8")}`);
  } else copyFileSync(join(FIXTURES, fixture), file);
  const tally = newTally();
  const turns: ReadTurn[] = [];
  for await (const turn of reader(file, tally)) turns.push(turn);
  expect(tally).toMatchObject({ notUnderstood: 0, dropped: 0 });
  expect(tally.read).toBeGreaterThan(0);
  const keys = turns.map(({ session, key }) => `${session} ${key}`);
  expect(new Set(keys).size).toBe(keys.length);
  return { turns, by: (speaker: ReadTurn["speaker"]) => turns.filter((turn) => turn.speaker === speaker).map(({ text }) => text) };
}

describe("Claude Code 2.1.330", () => {
  const SESSION = "2e2dac4b-9314-4a0b-8a56-c4bc5f472ca9";

  it("has people say what they said, also while the model worked, and its own errors said by nobody", async () => {
    const { turns, by } = await read(claudeCodeTurns, "claude-code.jsonl", `projects/-home-ada-work/${SESSION}.jsonl`);
    expect(by("person")).toEqual([
      "Please slowly look at it.",
      "And while you are at it: the boiler is in the cellar.",
      "now delegate it",
      "be broken",
      "after the compaction",
      "@note.txt what is in there",
    ]);
    expect(by("assistant").slice(1)).toEqual([
      `Done looking.${SCRIPTED}`,
      "I delegate.",
      `Delegated.${SCRIPTED}`,
      ...Array<string>(3).fill(`Hello from the script.${SCRIPTED}`),
    ]);
    expect(by("tool")[1]).toBe("The violets are out.");
    expect(by("harness").map((text) => text.slice(0, 22))).toEqual([
      "<task-notification>\n<t",
      "API Error: 400 The mod",
      "<local-command-caveat>",
      "<command-name>/compact",
      "<local-command-stdout>",
    ]);
    expect(turns.every((turn) => turn.session === SESSION && turn.folder === "/home/ada/work" && turn.saidAt !== undefined)).toBe(true);
  });

  it("tells a sub-agent what no person said", async () => {
    const { turns, by } = await read(
      claudeCodeTurns,
      "claude-code-agent.jsonl",
      `projects/p/${SESSION}/subagents/agent-af82f4d9bf46effa9.jsonl`,
    );
    expect(by("harness")).toEqual(["Sub-agent: be short"]);
    expect(by("person")).toEqual([]);
    expect(turns[0]!.session).toBe(`${SESSION}/agent-af82f4d9bf46effa9`);
  });

  it("keeps what the hook put before its model where nothing of it is read", async () => {
    expect(readFileSync(join(FIXTURES, "claude-code-hooked.jsonl"), "utf8")).toContain(
      "1f3c2716-2069-47b0-a248-a89937660c5f The boiler valve open",
    );
    const { turns, by } = await read(claudeCodeTurns, "claude-code-hooked.jsonl");
    expect(by("person")).toEqual(["at how many bar does the boiler valve open?", "be broken"]);
    expect(JSON.stringify(turns)).not.toMatch(/hlvm-memory|1f3c2716/);
  });
});

describe("Codex 0.169.0", () => {
  it("has its questions, answers and calls, each once", async () => {
    const { turns, by } = await read(codexTurns, "codex.jsonl", "rollout-2026-11-25T00-30-02-01a2101c-0ac4-78d1-a536-49afea83851f.jsonl");
    expect(by("person")).toEqual(["Read the note as codex would.", "And once more, what does it say?"]);
    expect(by("assistant")).toEqual(["I look.", `Read as codex would.${SCRIPTED}`, `Hello from the script.${SCRIPTED}`]);
    expect(by("tool")[0]).toBe('exec_command {"cmd":"cat note.txt"}');
    expect(by("harness")).toEqual([]);
    expect(turns[0]).toMatchObject({ session: "01a2101c-0ac4-78d1-a536-49afea83851f", folder: "/home/ada/work" });
  });

  it("keeps what the hook put before its model where nothing of it is read", async () => {
    expect(readFileSync(join(FIXTURES, "codex-hooked.jsonl"), "utf8")).toContain(
      "1f3c2716-2069-47b0-a248-a89937660c5f The boiler valve open",
    );
    const { turns, by } = await read(codexTurns, "codex-hooked.jsonl");
    expect(by("person")).toEqual(["at how many bar does the boiler valve open?", "be broken", "and on"]);
    expect(JSON.stringify(turns)).not.toMatch(/hlvm-memory|1f3c2716/);
  });
});

it("reads opencode 1.18.33, its sub-agent's prompt as no person's", async () => {
  const { turns, by } = await read(opencodeTurns, "opencode.sql", "opencode.db");
  expect(by("person").toSorted()).toEqual(['"and on"', '"be broken"', '"now delegate it"', "Hello"]);
  expect(by("harness")).toEqual(["Sub-agent: be short"]);
  expect(by("tool")).toEqual([expect.stringMatching(/^task \{"description":"look"/)]);
  expect(by("assistant")).toContain(`The sub-agent says hi.${SCRIPTED}`);
  expect(new Set(turns.map(({ session }) => session)).size).toBe(3);
  expect(turns.every((turn) => turn.folder === "/home/ada/work" && turn.saidAt !== undefined)).toBe(true);
});

it("reads pi 0.73.1", async () => {
  const { turns, by } = await read(piTurns, "pi.jsonl");
  expect(by("person")).toEqual(["Read the note as pi would.", "And once more, what does it say?"]);
  expect(by("assistant")).toEqual(["I look.", `Read as pi would.${SCRIPTED}`, `Hello from the script.${SCRIPTED}`]);
  expect(by("tool")).toEqual(['bash {"command":"cat note.txt"}', "The violets are out."]);
  expect(turns[0]).toMatchObject({ session: "01a2101c-4a46-73ea-aba8-657cb55010c6", folder: "/home/ada/work" });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { readLongMemEval } from "./read-longmemeval.ts";

/** Made up, in the form in which the set is published. */
const FIXTURE = fileURLToPath(new URL("fixtures/longmemeval.json", import.meta.url));

it("reads each question with a memory of its own, its turns with who said them and when, and those that answer", () => {
  const sets = readLongMemEval(FIXTURE)!;
  expect(sets.map(({ turns }) => turns.length)).toEqual([4, 6, 2]);
  expect(sets[0]!.turns[0]).toMatchObject({
    id: "answer_made_up_1_1:0",
    session: "answer_made_up_1_1",
    ordinal: 0,
    actor: "user",
    saidAt: new Date("2023-03-04T18:20:00Z"),
  });
  expect(sets.map(({ questions: [question] }) => question)).toMatchObject([
    { categories: ["single-session-user", "all"], turns: ["answer_made_up_1_1:0"], sessions: ["answer_made_up_1_1"] },
    { turns: ["answer_made_up_2_1:0", "answer_made_up_2_2:0"], sessions: ["answer_made_up_2_1", "answer_made_up_2_2"] },
    // Nothing answers it.
    { categories: ["knowledge-update", "all"], turns: [], sessions: [] },
  ]);
});

it("cuts what is longer than a fact may be, in bytes and between characters", () => {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-set-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "set.json");
  const asked = { question_id: "q", question_type: "t", question: "?", haystack_session_ids: ["s"], answer_session_ids: ["s"] };
  writeFileSync(file, JSON.stringify([{ ...asked, haystack_sessions: [[{ role: "user", content: "ü🎻".repeat(9_000) }]] }]));
  const { turns } = readLongMemEval(file)![0]!;
  expect(Buffer.byteLength(turns[0]!.text)).toBeLessThanOrEqual(16_384);
  expect(turns[0]!.text.length).toBeGreaterThan(8_000);
  expect(turns[0]!.text.isWellFormed()).toBe(true);
});

it("reads nothing where there is no file", () => {
  expect(readLongMemEval(undefined)).toBeUndefined();
  expect(readLongMemEval("/nowhere/set.json")).toBeUndefined();
});

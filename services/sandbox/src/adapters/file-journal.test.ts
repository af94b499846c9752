import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testLog } from "@hlvm/testing/test-log";
import { afterAll, expect, it } from "vitest";
import { Receipts } from "../domain/receipts.ts";
import { failedResult } from "../domain/tool-event.ts";
import { FileJournal } from "./file-journal.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-journal-"));
afterAll(() => rmSync(directory, { recursive: true }));

it("gives back what was appended, past a line that was cut short", async () => {
  const journal = await FileJournal.open(directory, testLog);
  journal.append("a", { kind: "opened", organization: "local" });
  appendFileSync(join(directory, "receipts/a.ndjson"), '\n{"kind":"star');
  journal.append("a", { kind: "started", callId: "1", fingerprint: "x" });
  expect(await journal.read("a")).toEqual([
    { kind: "opened", organization: "local" },
    { kind: "started", callId: "1", fingerprint: "x" },
  ]);
  expect(await journal.read("never")).toBeUndefined();
  expect(statSync(join(directory, "receipts/a.ndjson")).mode & 0o777).toBe(0o600);
});

it("drops old results of a journal that has grown large, and still knows that their calls ended", async () => {
  const journal = await FileJournal.open(directory, testLog);
  const receipts = await Receipts.open(journal, "large", "local");
  for (let call = 0; call < 40; call++) {
    receipts.begin(`call-${call}`, "f");
    receipts.end(`call-${call}`, failedResult("internal", "x".repeat(1024 * 1024), 1));
  }
  const path = join(directory, "receipts/large.ndjson");
  expect(statSync(path).size).toBeGreaterThan(32 * 1024 * 1024);
  const later = await Receipts.open(await FileJournal.open(directory, testLog), "large", "local");
  expect(statSync(path).size).toBeLessThan(9 * 1024 * 1024);
  expect((await later.find("call-0")).state).toBe("unknown");
  expect((await later.find("call-39")).state).toBe("done");
  expect(() => later.begin("call-0", "f")).toThrow("was started before");
});

it("forgets a session after a week", async () => {
  const journal = await FileJournal.open(directory, testLog);
  journal.append("old", { kind: "opened", organization: "local" });
  const longAgo = Date.now() / 1_000 - 8 * 24 * 60 * 60;
  utimesSync(join(directory, "receipts/old.ndjson"), longAgo, longAgo);
  await FileJournal.open(directory, testLog);
  expect(readdirSync(join(directory, "receipts"))).not.toContain("old.ndjson");
});

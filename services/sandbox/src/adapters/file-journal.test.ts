import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { afterAll, expect, it } from "vitest";
import { Receipts } from "../domain/receipts.ts";
import { failedResult } from "../domain/tool-event.ts";
import { FileJournal } from "./file-journal.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-journal-"));
const longAgo = Date.now() / 1_000 - 8 * 24 * 60 * 60;
afterAll(() => rmSync(directory, { recursive: true }));

it("gives back what was appended, past a line that was cut short", async () => {
  const journal = FileJournal.open(directory, testLog);
  journal.append("a", { kind: "opened", organization: "local", owner: "user:test" });
  appendFileSync(join(directory, "receipts/a.ndjson"), '\n{"kind":"star');
  journal.append("a", { kind: "started", callId: "1", fingerprint: "x" });
  expect(await journal.read("a")).toEqual([
    { kind: "opened", organization: "local", owner: "user:test" },
    { kind: "started", callId: "1", fingerprint: "x" },
  ]);
  expect(await journal.read("never")).toBeUndefined();
  expect(statSync(join(directory, "receipts/a.ndjson")).mode & 0o777).toBe(0o600);
});

it("drops old results of a journal that has grown large, and still knows that their calls ended", async () => {
  const journal = FileJournal.open(directory, testLog);
  const receipts = await Receipts.open(journal, "large", testPrincipal);
  for (let call = 0; call < 40; call++) {
    receipts.begin(`call-${call}`, "f");
    receipts.end(`call-${call}`, failedResult("internal", "x".repeat(1024 * 1024), 1));
  }
  const path = join(directory, "receipts/large.ndjson");
  expect(statSync(path).size).toBeGreaterThan(32 * 1024 * 1024);
  await journal.prune(new Set());
  const later = await Receipts.open(FileJournal.open(directory, testLog), "large", testPrincipal);
  expect(statSync(path).size).toBeLessThan(9 * 1024 * 1024);
  expect((await later.find("call-0")).state).toBe("unknown");
  expect((await later.find("call-39")).state).toBe("done");
  expect(() => later.begin("call-0", "f")).toThrow("was started before");
});

it("loses nothing that is written while it drops old results", async () => {
  const journal = FileJournal.open(directory, testLog);
  const receipts = await Receipts.open(journal, "busy", testPrincipal);
  for (let call = 0; call < 40; call++) {
    receipts.begin(`call-${call}`, "f");
    receipts.end(`call-${call}`, failedResult("internal", "x".repeat(1024 * 1024), 1));
  }
  const pruned = journal.prune(new Set()).then(() => true);
  const written = ["call-0", "after", "last"];
  while (!(await Promise.race([pruned, setImmediate(false)]))) {
    written.push(`meanwhile-${written.length}`);
    receipts.begin(written.at(-1)!, "f");
  }
  receipts.begin("after", "f");
  await journal.prune(new Set());
  receipts.begin("last", "f");
  expect(statSync(join(directory, "receipts/busy.ndjson")).size).toBeLessThan(10 * 1024 * 1024);
  const later = await Receipts.open(FileJournal.open(directory, testLog), "busy", testPrincipal);
  for (const call of written) expect((await later.find(call)).state).toBe("unknown");
  expect(readdirSync(join(directory, "receipts"))).not.toContainEqual(expect.stringMatching(/^busy.*tmp$/));
});

it("forgets a session a week after its last use", async () => {
  const path = join(directory, "receipts/old.ndjson");
  const makeOld = (): void => utimesSync(path, longAgo, longAgo);
  const journal = FileJournal.open(directory, testLog);
  const receipts = await Receipts.open(journal, "old", testPrincipal);
  receipts.begin("call", "f");
  makeOld();
  receipts.renew(testPrincipal);
  await journal.prune(new Set());
  expect(existsSync(path)).toBe(true);
  makeOld();
  expect(await journal.prune(new Set(["old"]))).toEqual([]);
  expect(existsSync(path)).toBe(true);
  expect(await journal.prune(new Set())).toContain("old");
  expect(existsSync(path)).toBe(false);
  receipts.renew(testPrincipal);
  expect(await journal.read("old")).toEqual([{ kind: "opened", organization: "local", owner: "user:test" }]);
});

it("writes on after another process has shrunk the journal and given it back", async () => {
  const [journal, other] = [FileJournal.open(directory, testLog), FileJournal.open(directory, testLog)];
  const before = await Receipts.open(journal, "back", testPrincipal);
  before.begin("large", "f");
  before.end("large", failedResult("internal", "x".repeat(33 * 1024 * 1024), 1));
  await other.prune(new Set());
  const after = await Receipts.open(journal, "back", testPrincipal);
  after.begin("next", "f");
  expect((await (await Receipts.open(other, "back", testPrincipal)).find("next")).state).toBe("unknown");
});

it("takes a file without one whole entry for nothing", async () => {
  const journal = FileJournal.open(directory, testLog);
  for (const [session, content] of Object.entries({ empty: "", cut: '\n{"kind":"opened","org' })) {
    appendFileSync(join(directory, `receipts/${session}.ndjson`), content);
    expect(await journal.read(session)).toBeUndefined();
  }
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testLog } from "@hlvm/testing/test-log";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { FileJournal } from "../adapters/file-journal.ts";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { Receipts, type Owner } from "./receipts.ts";
import { failedResult } from "./tool-event.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-receipts-"));
const result = failedResult("no_match", "nothing", 3);
let journal: FileJournal;
let session = 0;
let sessionId: string;

beforeAll(() => {
  journal = FileJournal.open(directory, testLog);
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(() => {
  sessionId = `session-${++session}`;
});
const open = (owner: Owner = testPrincipal): Promise<Receipts> => Receipts.open(journal, sessionId, owner);

it("tells a call that was never started from one that runs and one that is done", async () => {
  const receipts = await open();
  expect(await receipts.find("call", "f")).toEqual({ state: "never_started" });
  receipts.begin("call", "f");
  expect(await receipts.find("call", "f")).toEqual({ state: "running" });
  receipts.end("call", result);
  expect(await receipts.find("call", "f")).toEqual({ state: "done", result });
});

it("starts a call id once, for one call, also after a restart", async () => {
  (await open()).begin("call", "f");
  const later = await open();
  expect(await later.find("call", "f")).toEqual({ state: "unknown" });
  await expect(later.find("call", "other")).rejects.toMatchObject({ reason: "call_id_reused" });
  expect(() => later.begin("call", "f")).toThrow("was started before");
});

it("does not know what came of a call whose result is no longer there", async () => {
  const receipts = await open();
  receipts.begin("call", "f");
  receipts.end("call", result);
  journal.remove(sessionId);
  expect(await receipts.find("call", "f")).toEqual({ state: "unknown" });
  expect(() => receipts.begin("call", "f")).toThrow("was started before");
});

it.each<Owner>([
  { ...testPrincipal, organization: "other" },
  { ...testPrincipal, id: "user:bob" },
])("keeps to its owner, whether the session is open or not (%o)", async (other) => {
  (await open()).begin("call", "f");
  const stranger = { reason: "session_not_found" };
  await expect(open(other)).rejects.toMatchObject(stranger);
  await expect(Receipts.find(journal, sessionId, other, "call")).rejects.toMatchObject(stranger);
  await expect(Receipts.discard(journal, sessionId, other)).rejects.toMatchObject(stranger);
  expect(await Receipts.find(journal, sessionId, testPrincipal, "call")).toEqual({ state: "unknown" });
});

it("writes nothing once it was stopped", async () => {
  const receipts = await open();
  receipts.begin("call", "f");
  receipts.stop();
  await Receipts.discard(journal, sessionId, testPrincipal);
  receipts.end("call", result);
  expect(() => receipts.begin("next", "f")).toThrow(`There is no session ${sessionId}`);
  expect(await journal.read(sessionId)).toBeUndefined();
  expect(await Receipts.find(journal, sessionId, testPrincipal, "call")).toEqual({ state: "unknown" });
});

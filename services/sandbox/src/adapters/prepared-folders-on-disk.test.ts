import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { expect, it, onTestFinished } from "vitest";
import { PreparedFoldersOnDisk } from "./prepared-folders-on-disk.ts";

const DAY_SECONDS = 24 * 60 * 60;
const facts = { head: "1".repeat(40), snapshot: "1".repeat(40), branch: "main", shallow: [] };

function open(maximumBytes = 1_000) {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-prepared-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return { directory, folders: new PreparedFoldersOnDisk({ directory, maximumBytes, keptDays: 14 }) };
}

it("removes what nobody has opened for the days that were set, and what was not finished for one", async () => {
  const { directory, folders } = open();
  const prepare = async (isReady: boolean, daysAgo: number): Promise<string> => {
    const sessionId = randomUUID();
    const record = { owner: testPrincipal, name: "teapot", origin: "" };
    await folders.create(sessionId, record);
    if (isReady) await folders.write(sessionId, { ...record, ready: facts });
    const at = Date.now() / 1_000 - daysAgo * DAY_SECONDS;
    utimesSync(join(directory, sessionId, "record.json"), at, at);
    return sessionId;
  };
  const [old, , used, unfinished] = [await prepare(true, 15), await prepare(true, 13), await prepare(true, 15), await prepare(false, 2)];
  await folders.workspace(used, "teapot");
  expect((await folders.unused()).toSorted()).toEqual([old, unfinished].toSorted());
  await folders.remove(old);
  expect(existsSync(join(directory, old))).toBe(false);
});

it("makes none where the disk has no room for one", async () => {
  const { directory, folders } = open(Number.MAX_SAFE_INTEGER);
  const created = folders.create(randomUUID(), { owner: testPrincipal, name: "teapot", origin: "" });
  await expect(created).rejects.toMatchObject({ reason: "disk_nearly_full" });
  expect(existsSync(join(directory, "teapot"))).toBe(false);
});

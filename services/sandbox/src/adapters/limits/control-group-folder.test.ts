import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeGroup, newGroupName, removeAbandoned } from "./control-group-folder.ts";

/** No process has it: ids go up to 4,194,304. */
const NOBODY = 9_999_999;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-groups-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("removes the groups of services that are gone, also of one that had this process's id", () => {
  const own = newGroupName();
  const kept = [own, `hlvm-sandbox-${process.ppid}-0a1b2c-1`, "hlvm-services", "user.slice"];
  const left = [`hlvm-sandbox-${process.pid}-0a1b2c-1`, `hlvm-sandbox-${process.pid}-1`, `hlvm-sandbox-${NOBODY}-0a1b2c-1`];
  for (const name of [...kept, ...left]) mkdirSync(join(folder, name));
  removeAbandoned(folder);
  expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted());
});

it("leaves nothing of a group whose limits cannot be set", () => {
  const folders = [join(folder, "pids"), join(folder, "memory")];
  const setLimits = (): void => {
    throw new Error("refused");
  };
  expect(() => makeGroup(folders, setLimits)).toThrow("refused");
  expect(() => makeGroup([...folders, join(folder, "absent/cpu")], () => undefined)).toThrow("ENOENT");
  expect(readdirSync(folder)).toEqual([]);
});

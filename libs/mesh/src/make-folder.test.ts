import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-make-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("makeFolder", () => {
  it("makes what is missing, for its owner alone, and again makes nothing", () => {
    const path = join(folder, "a", "b", "c");
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "a")).mode & 0o777).toBe(0o700);
  });

  it("comes back from where nobody can make a folder", () => {
    expect(() => makeFolder("/proc/hlvm/run")).toThrow("ENOENT");
    writeFileSync(join(folder, "file"), "");
    expect(() => makeFolder(join(folder, "file", "run"))).toThrow("ENOTDIR");
  });
});

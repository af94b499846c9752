import { chownSync, lchownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepPrivateFile, keepPrivateFolder } from "./private-file.ts";

const SOMEBODY_ELSE = 65_534;
const make = vi.fn<() => string>(() => "made");

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-private-"));
  path = join(directory, "it");
  make.mockClear();
});
afterEach(() => rmSync(directory, { recursive: true }));

const keepFolder = async (): Promise<void> => keepPrivateFolder(path, () => undefined);
const keepFile = (): Promise<string> => keepPrivateFile(path, make, () => undefined);

describe("what has to be a person's own", () => {
  it("may be a link that they have made themselves", async () => {
    mkdirSync(join(directory, "elsewhere"));
    symlinkSync(join(directory, "elsewhere"), path);
    await keepFolder();
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    rmSync(path);
    writeFileSync(join(directory, "secret"), "kept", { mode: 0o600 });
    symlinkSync(join(directory, "secret"), path);
    expect(await keepFile()).toBe("kept");
  });
});

// Only root can give things to somebody else.
describe.skipIf(process.getuid?.() !== 0)("what somebody else has put in its place is refused", () => {
  it.each([
    ["a folder", () => mkdirSync(path), keepFolder],
    ["a link to a folder of ours", () => symlinkSync(directory, path), keepFolder],
    ["a link to nothing", () => symlinkSync(join(directory, "nothing"), path), keepFolder],
    ["a file", () => writeFileSync(path, "theirs"), keepFile],
    ["a link to a file of ours", () => symlinkSync(import.meta.filename, path), keepFile],
    ["a link to no file", () => symlinkSync(join(directory, "nothing"), path), keepFile],
  ])("%s", async (_, put, keep) => {
    put();
    lchownSync(path, SOMEBODY_ELSE, SOMEBODY_ELSE);
    await expect(keep()).rejects.toMatchObject({ reason: "not_the_owner", message: expect.stringContaining(path) });
    expect(make).not.toHaveBeenCalled();
  });

  it("a link of ours to a folder of theirs", async () => {
    const theirs = join(directory, "theirs");
    mkdirSync(theirs);
    chownSync(theirs, SOMEBODY_ELSE, SOMEBODY_ELSE);
    symlinkSync(theirs, path);
    await expect(keepFolder()).rejects.toMatchObject({ reason: "not_the_owner" });
  });
});
